import { expect, test } from 'vitest';
import type { AgentStream, StreamItem } from '../../api/types';
import { NOTHING, append, completed, prepend, type Step } from './steps';

function item(kind: StreamItem['kind'], more: Partial<StreamItem> = {}): StreamItem {
  return { at: '2026-11-15T12:00:00Z', kind, id: null, tool: null, text: '', input: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0, ...more };
}

let offset = 0;
function part(items: readonly StreamItem[], attempt = 1): AgentStream {
  const from = { segment: 0, offset };
  offset += 100;
  return { items, from, next: { segment: 0, offset }, attempt, complete: false };
}

const shown = (steps: readonly Step[]) =>
  steps.map((step) => [step.kind, step.tool ?? step.text, step.came?.text].filter((one) => one !== undefined && one !== '').join(' '));

const call = item('call', { id: 'a', tool: 'Bash', input: { command: 'ls' } });
const came = item('output', { id: 'a', text: 'files', ok: true, at: '2026-11-15T12:00:03Z' });

test('what came of a call stands with the call, whenever it comes', () => {
  const first = append(NOTHING, [part([call, item('message', { text: 'meanwhile' })])]);
  expect(first.steps[0]?.came).toBeNull();
  const then = append(first, [part([came])]);
  expect(shown(then.steps)).toEqual(['call Bash files', 'message meanwhile']);
  expect(then.steps[0]?.key).toBe(first.steps[0]?.key);
  expect(first.steps[0]?.came, 'what was there is not changed').toBeNull();
});

test('a call that is told of twice is one, and the later word counts', () => {
  const twice = append(NOTHING, [
    part([item('call', { id: 'a', tool: 'Bash', input: {} })]),
    part([item('call', { id: 'a', tool: null, input: { command: 'make' } }), item('call', { id: 'a', tool: 'Bash', input: null })]),
  ]);
  expect(twice.steps.length).toBe(1);
  expect([twice.steps[0]?.tool, twice.steps[0]?.input]).toEqual(['Bash', { command: 'make' }]);
});

test('pieces of one text are one, across parts and not across kinds, ids or attempts', () => {
  const piece = (text: string, more: Partial<StreamItem> = {}) => item('message', { text, part: true, id: 'm', ...more });
  const stream = append(NOTHING, [
    part([piece('I lo')]),
    part([piece('ok.'), piece('And', { id: 'n' }), item('thought', { text: 'hm', part: true, id: 'n' })]),
    part([item('output', { text: 'one\n', part: true }), item('output', { text: 'two\n', part: true }), item('output', { text: 'oh\n', part: true, err: true })]),
    part([item('output', { text: 'new\n', part: true, err: true })], 2),
  ]);
  expect(shown(stream.steps)).toEqual(['message I look.', 'message And', 'thought hm', 'output one\ntwo\n', 'output oh\n', 'attempt', 'output new\n']);
});

test('ids of one attempt mean nothing in the next', () => {
  const stream = append(NOTHING, [part([call], 1), part([came], 2)]);
  expect(shown(stream.steps)).toEqual(['call Bash', 'attempt', 'output files']);
});

test('what was before finds its end when it is read later', () => {
  const late = append(NOTHING, [part([came, item('message', { text: 'done' })])]);
  expect(shown(late.steps)).toEqual(['output files', 'message done']);
  const whole = prepend(late, { ...part([item('message', { text: 'I look' }), call]), from: { segment: 0, offset: -100 } });
  expect(shown(whole.steps)).toEqual(['message I look', 'call Bash files', 'message done']);
  expect(prepend(whole, part([]))).toBe(whole);
});

test('what was cut can be put in whole', () => {
  const stream = append(NOTHING, [part([call]), part([item('message', { text: 'x' }), { ...came, text: 'fi', cut: 3 }])]);
  const source = stream.steps[0]?.came?.source;
  if (source === undefined) throw new Error('nothing came');
  const whole = completed(stream, source, part([item('message', { text: 'x' }), came]));
  expect([whole.steps[0]?.came?.text, whole.steps[0]?.came?.cut]).toEqual(['files', 0]);
});

test('of very many the oldest are forgotten', () => {
  const many = Array.from({ length: 250 }, () => part(Array.from({ length: 100 }, (_, at) => item('message', { text: String(at) }))));
  const stream = many.reduce((before, one) => append(before, [one]), NOTHING);
  expect(stream.steps.length).toBeLessThanOrEqual(20_000);
  expect(stream.parts.at(-1)).toBe(many.at(-1));
});
