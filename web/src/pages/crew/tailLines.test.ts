import { expect, it } from 'vitest';
import type { AgentStream, StreamItem } from '../../api/types';
import { summarizeInput } from '../../parts/summary';
import { MAX_KEPT_LINES, getToolBaseName, appendLines, buildLines } from './tailLines';

const buildItem = (kind: StreamItem['kind'], text: string, change: Partial<StreamItem> = {}): StreamItem => ({
  at: '2026-11-15T14:00:00Z', kind, text, tool: null, input: null, id: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0, ...change,
});
const buildPart = (items: StreamItem[], offset = 9): AgentStream => ({ items, from: { segment: 0, offset: 0 }, next: { segment: 0, offset }, attempt: 1, complete: false });

it('shows messages and calls, and omits thoughts and prompts', () => {
  const lines = buildLines(buildPart([
    buildItem('told', 'the prompt'),
    buildItem('thought', 'hm'),
    buildItem('message', 'One.\n\nTwo.'),
    buildItem('call', '', { tool: 'mcp__mail__send', input: { subject: 'Locks\nmore', toHuman: true } }),
    buildItem('output', '\u001b[32mPASS\u001b[0m'),
  ]));
  expect(lines.map((line) => [line.kind, line.tool, line.text])).toEqual([
    ['message', null, 'One.'],
    ['message', null, 'Two.'],
    ['call', 'send', 'Locks'],
    ['output', null, '\u001b[32mPASS\u001b[0m'],
  ]);
});

it('keeps only the end of a long output', () => {
  const long = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n');
  expect(buildLines(buildPart([buildItem('output', long)])).map((line) => line.text).at(0)).toBe('line 88');
});

it('appends each part once, and drops the oldest lines', () => {
  const one = buildLines(buildPart([buildItem('message', 'a')]));
  expect(appendLines(one, one)).toHaveLength(1);
  const many = Array.from({ length: 30 }, (_, n) => buildLines(buildPart([buildItem('output', 'x\n'.repeat(12))], n))).flat();
  expect(appendLines(one, many)).toHaveLength(MAX_KEPT_LINES);
});

it('summarizes a call by its most telling argument', () => {
  expect(summarizeInput({ waitSeconds: 5, agentId: 'sp_1' })).toBe('sp_1');
  expect(summarizeInput({ n: 1 })).toBe('');
  expect(summarizeInput('plain')).toBe('plain');
  expect(getToolBaseName('Bash')).toBe('Bash');
});
