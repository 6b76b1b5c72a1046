import { expect, test } from 'vitest';
import type { AgentStream, StreamItem } from '../../api/types';
import { EMPTY_STREAM, appendParts, replaceCutItem, prependPart, type Step } from './steps';

function buildItem(kind: StreamItem['kind'], more: Partial<StreamItem> = {}): StreamItem {
  return { at: '2026-11-15T12:00:00Z', kind, id: null, tool: null, text: '', input: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0, ...more };
}

let offset = 0;
function buildPart(items: readonly StreamItem[], attempt = 1): AgentStream {
  const from = { segment: 0, offset };
  offset += 100;
  return { items, from, next: { segment: 0, offset }, attempt, complete: false };
}

const describeSteps = (steps: readonly Step[]) =>
  steps.map((step) => [step.kind, step.tool ?? step.text, step.result?.text].filter((one) => one !== undefined && one !== '').join(' '));

const call = buildItem('call', { id: 'a', tool: 'Bash', input: { command: 'ls' } });
const output = buildItem('output', { id: 'a', text: 'files', ok: true, at: '2026-11-15T12:00:03Z' });

test('a result is joined with its call, whenever it arrives', () => {
  const first = appendParts(EMPTY_STREAM, [buildPart([call, buildItem('message', { text: 'meanwhile' })])]);
  expect(first.steps[0]?.result).toBeNull();
  const then = appendParts(first, [buildPart([output])]);
  expect(describeSteps(then.steps)).toEqual(['call Bash files', 'message meanwhile']);
  expect(then.steps[0]?.key).toBe(first.steps[0]?.key);
  expect(first.steps[0]?.result, 'what was there is not changed').toBeNull();
});

test('a repeated call is merged, and its later values count', () => {
  const twice = appendParts(EMPTY_STREAM, [
    buildPart([buildItem('call', { id: 'a', tool: 'Bash', input: {} })]),
    buildPart([buildItem('call', { id: 'a', tool: null, input: { command: 'make' } }), buildItem('call', { id: 'a', tool: 'Bash', input: null })]),
  ]);
  expect(twice.steps.length).toBe(1);
  expect([twice.steps[0]?.tool, twice.steps[0]?.input]).toEqual(['Bash', { command: 'make' }]);
});

test('pieces of a text are joined across parts, but not across kinds, ids or attempts', () => {
  const piece = (text: string, more: Partial<StreamItem> = {}) => buildItem('message', { text, part: true, id: 'm', ...more });
  const stream = appendParts(EMPTY_STREAM, [
    buildPart([piece('I lo')]),
    buildPart([piece('ok.'), piece('And', { id: 'n' }), buildItem('thought', { text: 'hm', part: true, id: 'n' })]),
    buildPart([buildItem('output', { text: 'one\n', part: true }), buildItem('output', { text: 'two\n', part: true }), buildItem('output', { text: 'oh\n', part: true, err: true })]),
    buildPart([buildItem('output', { text: 'new\n', part: true, err: true })], 2),
  ]);
  expect(describeSteps(stream.steps)).toEqual(['message I look.', 'message And', 'thought hm', 'output one\ntwo\n', 'output oh\n', 'attempt', 'output new\n']);
});

test('ids are scoped to their attempt', () => {
  const stream = appendParts(EMPTY_STREAM, [buildPart([call], 1), buildPart([output], 2)]);
  expect(describeSteps(stream.steps)).toEqual(['call Bash', 'attempt', 'output files']);
});

test('an earlier call is joined with its loaded result', () => {
  const outputOnly = appendParts(EMPTY_STREAM, [buildPart([output, buildItem('message', { text: 'done' })])]);
  expect(describeSteps(outputOnly.steps)).toEqual(['output files', 'message done']);
  const completed = prependPart(outputOnly, { ...buildPart([buildItem('message', { text: 'I look' }), call]), from: { segment: 0, offset: -100 } });
  expect(describeSteps(completed.steps)).toEqual(['message I look', 'call Bash files', 'message done']);
  expect(prependPart(completed, buildPart([]))).toBe(completed);
});

test('a cut item can be replaced', () => {
  const stream = appendParts(EMPTY_STREAM, [buildPart([call]), buildPart([buildItem('message', { text: 'x' }), { ...output, text: 'fi', cut: 3 }])]);
  const source = stream.steps[0]?.result?.source;
  if (source === undefined) throw new Error('nothing came');
  const completed = replaceCutItem(stream, source, buildPart([buildItem('message', { text: 'x' }), output]));
  expect([completed.steps[0]?.result?.text, completed.steps[0]?.result?.cut]).toEqual(['files', 0]);
});

test('the oldest of very many items are dropped', () => {
  const parts = Array.from({ length: 250 }, () => buildPart(Array.from({ length: 100 }, (_, at) => buildItem('message', { text: String(at) }))));
  const stream = parts.reduce((before, one) => appendParts(before, [one]), EMPTY_STREAM);
  expect(stream.steps.length).toBeLessThanOrEqual(20_000);
  expect(stream.parts.at(-1)).toBe(parts.at(-1));
});
