// Converts the end of an agent's stream to single lines.
import { summarizeInput } from '../../parts/summary';
import type { AgentStream } from '../../api/types';

export interface TailLine {
  readonly key: string;
  readonly at: string;
  readonly kind: string;
  readonly tool: string | null;
  readonly text: string;
}

/** Number of lines kept. */
export const MAX_KEPT_LINES = 200;
/** Limit of lines per step. */
const MAX_LINES_PER_STEP = 12;

/** Tool name without its MCP server and toolset. */
export function getToolBaseName(tool: string): string {
  return tool.split('__').at(-1) ?? tool;
}

/**
 * Converts a part of a stream to lines. Thoughts and prompts are shown only on the agent's page.
 */
export function buildLines(part: AgentStream): readonly TailLine[] {
  return part.items.flatMap((item, index) => {
    const key = `${part.attempt} ${part.next.segment} ${part.next.offset} ${index}`;
    if (item.kind === 'thought' || item.kind === 'told') return [];
    if (item.kind === 'call') {
      const text = summarizeInput(item.input).split('\n')[0] ?? '';
      return [{ key, at: item.at, kind: 'call', tool: item.tool === null ? null : getToolBaseName(item.tool), text }];
    }
    const lines = item.text.split('\n').filter((line) => line.trim() !== '');
    return lines.slice(-MAX_LINES_PER_STEP).map((text, at) => ({ key: `${key} ${at}`, at: item.at, kind: item.kind, tool: null, text }));
  });
}

/** Appends new lines, and drops the oldest. */
export function appendLines(before: readonly TailLine[], more: readonly TailLine[]): readonly TailLine[] {
  const known = new Set(before.map((line) => line.key));
  return [...before, ...more.filter((line) => !known.has(line.key))].slice(-MAX_KEPT_LINES);
}
