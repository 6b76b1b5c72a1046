// One-line texts for steps: tool, subject and outcome.
import { summaryOf } from '../../parts/summary';
import type { Step } from './steps';

/** Tools whose output comes from a terminal. */
const SHELLS = new Set(['Bash', 'BashOutput', 'shell', 'execute', 'exec_command', 'local_shell', 'Terminal', 'run']);
/** Longest shell output that is shown without a click, in lines. */
const SHORT = 12;

export function isShell(tool: string | null): boolean {
  return tool !== null && SHELLS.has(tool);
}

function field(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined;
}

/** Tool name without its MCP server. */
export function bare(tool: string): string {
  return tool.startsWith('mcp__') ? (tool.split('__').slice(2).join('__') || tool) : tool;
}

/** Subject of a call in one line. A command wrapped in `sh -c` is unwrapped. */
export function about(input: unknown): string {
  const text = summaryOf(input).trim();
  const wrapped = /^\/bin\/(?:ba|z)?sh -l?c '(.*)'$/s.exec(text);
  return (wrapped?.[1] ?? text).split('\n')[0] ?? '';
}

const lines = (value: unknown): number => (typeof value === 'string' && value !== '' ? value.replace(/\n$/, '').split('\n').length : 0);

/** Counts the lines that an edit adds and removes, as far as its input tells. */
export function edited(step: Step): { readonly added: number; readonly removed: number } | null {
  const { tool, input } = step;
  if (tool === 'Write' || tool === 'NotebookEdit') {
    const added = lines(field(input, 'content') ?? field(input, 'new_source'));
    return added === 0 ? null : { added, removed: 0 };
  }
  if (tool !== 'Edit' && tool !== 'MultiEdit') return null;
  const given = field(input, 'edits');
  const edits: readonly unknown[] = Array.isArray(given) ? given : [input];
  const sum = (name: string) => edits.reduce<number>((all, edit) => all + lines(field(edit, name)), 0);
  const [added, removed] = [sum('new_string'), sum('old_string')];
  return added + removed === 0 ? null : { added, removed };
}

export interface Verdict {
  readonly ok: boolean;
  readonly word: string;
}

/** Outcome of a call, if there is more to say than that it ended. */
export function verdict(step: Step): Verdict | null {
  const { came } = step;
  if (came === null) return null;
  const code = /^Exit code (\d+)/.exec(came.text)?.[1] ?? /(?:^|\n)exit (\d+)\s*$/.exec(came.text)?.[1];
  if (!came.ok) return { ok: false, word: code === undefined ? 'failed' : `exit ${code}` };
  const passed = isShell(step.tool) ? [...came.text.matchAll(/(\d+) (?:tests? )?passed/g)].at(-1)?.[1] : undefined;
  return passed === undefined ? null : { ok: true, word: `${passed} passed` };
}

/** Duration of a call in milliseconds: as reported, otherwise from its start to its end. */
export function tookOf(step: Step): number | null {
  if (step.came === null) return null;
  return step.came.durationMs ?? Math.max(0, Date.parse(step.came.at) - Date.parse(step.at));
}

/** True if a result is shown without a click: an error, or short shell output. */
export function opensItself(step: Step): boolean {
  if (step.kind !== 'call' || step.came === null || step.came.text.trim() === '') return false;
  if (!step.came.ok) return true;
  return isShell(step.tool) && step.came.text.split('\n').length <= SHORT;
}

/** Time since the start: `4:07`, `1:04:07`. */
export function since(at: string, start: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(at) - Date.parse(start)) / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${two(minutes)}:${two(seconds % 60)}`;
}

/** Summarizes new steps in a sentence. */
export function summary(steps: readonly Step[]): string {
  const many = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  const word = (n: number, one: string) => (n === 0 ? null : `${n} ${n === 1 ? one : `${one}s`}`);
  const counts = [word(many('message'), 'message'), word(many('call'), 'call'), word(many('error'), 'error')].filter((one) => one !== null);
  const last = steps.findLast((step) => step.kind === 'message' || step.kind === 'call' || step.kind === 'error');
  if (last === undefined) return '';
  const words = last.kind === 'call' ? `${bare(last.tool ?? 'a tool')} ${about(last.input)}` : last.text;
  return `${counts.join(', ')}. Last: ${words.slice(0, 140)}`;
}

/** Last lines of a long text, and the number of hidden ones. */
export function lastLines(text: string, most: number, shown: number): { readonly text: string; readonly left: number } {
  const all = text.replace(/\n$/, '').split('\n');
  return all.length <= most ? { text, left: 0 } : { text: all.slice(-shown).join('\n'), left: all.length - shown };
}
