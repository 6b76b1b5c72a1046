// The end of an agent's stream as lines: a glance, not the whole story.
import { summaryOf } from '../../parts/summary';
import type { AgentStream } from '../../api/types';

export interface Line {
  readonly key: string;
  readonly at: string;
  readonly kind: string;
  readonly tool: string | null;
  readonly text: string;
}

/** So many lines are kept. */
export const KEPT = 200;
/** A step gives no more lines than this. */
const EACH = 12;

/** The name of a tool without where it comes from. */
export function bare(tool: string): string {
  return tool.split('__').at(-1) ?? tool;
}

/** A part of a stream as lines. What is thought and told stands on the agent's own page. */
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

/** More lines after those before, the oldest forgotten. */
export function join(before: readonly Line[], more: readonly Line[]): readonly Line[] {
  const known = new Set(before.map((line) => line.key));
  return [...before, ...more.filter((line) => !known.has(line.key))].slice(-KEPT);
}
