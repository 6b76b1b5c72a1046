// Converts the end of an agent's stream to single lines.
import { summaryOf } from '../../parts/summary';
import type { AgentStream } from '../../api/types';

export interface Line {
  readonly key: string;
  readonly at: string;
  readonly kind: string;
  readonly tool: string | null;
  readonly text: string;
}

/** Number of lines kept. */
export const KEPT = 200;
/** Limit of lines per step. */
const EACH = 12;

/** Tool name without its MCP server and toolset. */
export function bare(tool: string): string {
  return tool.split('__').at(-1) ?? tool;
}

/**
 * Converts a part of a stream to lines. Thoughts and prompts are shown only on the agent's page.
 */
export function linesOf(part: AgentStream): readonly Line[] {
  return part.items.flatMap((item, index) => {
    const place = `${part.attempt} ${part.next.segment} ${part.next.offset} ${index}`;
    if (item.kind === 'thought' || item.kind === 'told') return [];
    if (item.kind === 'call') {
      const text = summaryOf(item.input).split('\n')[0] ?? '';
      return [{ key: place, at: item.at, kind: 'call', tool: item.tool === null ? null : bare(item.tool), text }];
    }
    const lines = item.text.split('\n').filter((line) => line.trim() !== '');
    return lines.slice(-EACH).map((text, at) => ({ key: `${place} ${at}`, at: item.at, kind: item.kind, tool: null, text }));
  });
}

/** Appends new lines, and drops the oldest. */
export function join(before: readonly Line[], more: readonly Line[]): readonly Line[] {
  const known = new Set(before.map((line) => line.key));
  return [...before, ...more.filter((line) => !known.has(line.key))].slice(-KEPT);
}
