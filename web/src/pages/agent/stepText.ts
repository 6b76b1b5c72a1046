// One-line texts for steps: tool, subject and outcome.
import { summarizeInput } from '../../parts/summary';
import type { Step } from './steps';

/** Tools whose output comes from a terminal. */
const SHELL_TOOLS = new Set(['Bash', 'BashOutput', 'shell', 'execute', 'exec_command', 'local_shell', 'Terminal', 'run']);
/** Longest shell output that is shown without a click, in lines. */
const MAX_AUTO_OPEN_LINES = 12;

export function isShellTool(tool: string | null): boolean {
  return tool !== null && SHELL_TOOLS.has(tool);
}

function readField(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined;
}

/** Tool name without its MCP server. */
export function getToolName(tool: string): string {
  return tool.startsWith('mcp__') ? (tool.split('__').slice(2).join('__') || tool) : tool;
}

/** Subject of a call in one line. A command wrapped in `sh -c` is unwrapped. */
export function describeCall(input: unknown): string {
  const text = summarizeInput(input).trim();
  const unwrapped = /^\/bin\/(?:ba|z)?sh -l?c '(.*)'$/s.exec(text);
  return (unwrapped?.[1] ?? text).split('\n')[0] ?? '';
}

const countLines = (value: unknown): number => (typeof value === 'string' && value !== '' ? value.replace(/\n$/, '').split('\n').length : 0);

/** Counts the lines that an edit adds and removes, as far as its input tells. */
export function countEditedLines(step: Step): { readonly added: number; readonly removed: number } | null {
  const { tool, input } = step;
  if (tool === 'Write' || tool === 'NotebookEdit') {
    const added = countLines(readField(input, 'content') ?? readField(input, 'new_source'));
    return added === 0 ? null : { added, removed: 0 };
  }
  if (tool !== 'Edit' && tool !== 'MultiEdit') return null;
  const editList = readField(input, 'edits');
  const edits: readonly unknown[] = Array.isArray(editList) ? editList : [input];
  const sum = (name: string) => edits.reduce<number>((all, edit) => all + countLines(readField(edit, name)), 0);
  const [added, removed] = [sum('new_string'), sum('old_string')];
  return added + removed === 0 ? null : { added, removed };
}

export interface CallVerdict {
  readonly isOk: boolean;
  readonly text: string;
}

/** Outcome of a call, if there is more to say than that it ended. */
export function getVerdict(step: Step): CallVerdict | null {
  const { result } = step;
  if (result === null) return null;
  const code = /^Exit code (\d+)/.exec(result.text)?.[1] ?? /(?:^|\n)exit (\d+)\s*$/.exec(result.text)?.[1];
  if (!result.ok) return { isOk: false, text: code === undefined ? 'failed' : `exit ${code}` };
  const passed = isShellTool(step.tool) ? [...result.text.matchAll(/(\d+) (?:tests? )?passed/g)].at(-1)?.[1] : undefined;
  return passed === undefined ? null : { isOk: true, text: `${passed} passed` };
}

/** Duration of a call in milliseconds: as reported, otherwise from its start to its end. */
export function getCallDuration(step: Step): number | null {
  if (step.result === null) return null;
  return step.result.durationMs ?? Math.max(0, Date.parse(step.result.at) - Date.parse(step.at));
}

/** True if a result is shown without a click: an error, or short shell output. */
export function opensByDefault(step: Step): boolean {
  if (step.kind !== 'call' || step.result === null || step.result.text.trim() === '') return false;
  if (!step.result.ok) return true;
  return isShellTool(step.tool) && step.result.text.split('\n').length <= MAX_AUTO_OPEN_LINES;
}

/** Time since the start: `4:07`, `1:04:07`. */
export function formatOffset(at: string, start: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(at) - Date.parse(start)) / 1000));
  const pad = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${pad(minutes)}:${pad(seconds % 60)}`;
}

/** Summarizes new steps in a sentence. */
export function summarizeSteps(steps: readonly Step[]): string {
  const countSteps = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  const formatPart = (n: number, one: string) => (n === 0 ? null : `${n} ${n === 1 ? one : `${one}s`}`);
  const counts = [formatPart(countSteps('message'), 'message'), formatPart(countSteps('call'), 'call'), formatPart(countSteps('error'), 'error')].filter((one) => one !== null);
  const last = steps.findLast((step) => step.kind === 'message' || step.kind === 'call' || step.kind === 'error');
  if (last === undefined) return '';
  const lastText = last.kind === 'call' ? `${getToolName(last.tool ?? 'a tool')} ${describeCall(last.input)}` : last.text;
  return `${counts.join(', ')}. Last: ${lastText.slice(0, 140)}`;
}

/** Last lines of a long text, and the number of hidden ones. */
export function keepLastLines(text: string, maxLines: number, keptLines: number): { readonly text: string; readonly left: number } {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.length <= maxLines ? { text, left: 0 } : { text: lines.slice(-keptLines).join('\n'), left: lines.length - keptLines };
}
