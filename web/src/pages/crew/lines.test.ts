import { expect, it } from 'vitest';
import type { AgentStream, StreamItem } from '../../api/types';
import { summaryOf } from '../../parts/summary';
import { KEPT, bare, join, linesOf } from './lines';

const item = (kind: StreamItem['kind'], text: string, change: Partial<StreamItem> = {}): StreamItem => ({
  at: '2026-11-15T14:00:00Z', kind, text, tool: null, input: null, id: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0, ...change,
});
const part = (items: StreamItem[], offset = 9): AgentStream => ({ items, from: { segment: 0, offset: 0 }, next: { segment: 0, offset }, attempt: 1, complete: false });

it('shows what is said and done, and leaves out what is thought and told', () => {
  const lines = linesOf(part([
    item('told', 'the prompt'),
    item('thought', 'hm'),
    item('message', 'One.\n\nTwo.'),
    item('call', '', { tool: 'mcp__mail__send', input: { subject: 'Locks\nmore', toHuman: true } }),
    item('output', '\u001b[32mPASS\u001b[0m'),
  ]));
  expect(lines.map((line) => [line.kind, line.tool, line.text])).toEqual([
    ['message', null, 'One.'],
    ['message', null, 'Two.'],
    ['call', 'send', 'Locks'],
    ['output', null, '\u001b[32mPASS\u001b[0m'],
  ]);
});

it('takes only the end of a long output', () => {
  const long = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n');
  expect(linesOf(part([item('output', long)])).map((line) => line.text).at(0)).toBe('line 88');
});

it('joins parts once, and forgets the oldest', () => {
  const one = linesOf(part([item('message', 'a')]));
  expect(join(one, one)).toHaveLength(1);
  const many = Array.from({ length: 30 }, (_, n) => linesOf(part([item('output', 'x\n'.repeat(12))], n))).flat();
  expect(join(one, many)).toHaveLength(KEPT);
});

it('tells a call by its most telling argument', () => {
  expect(summaryOf({ waitSeconds: 5, agentId: 'sp_1' })).toBe('sp_1');
  expect(summaryOf({ n: 1 })).toBe('');
  expect(summaryOf('plain')).toBe('plain');
  expect(bare('Bash')).toBe('Bash');
});
