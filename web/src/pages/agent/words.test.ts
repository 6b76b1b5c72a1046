import { expect, test } from 'vitest';
import type { Came, Step } from './steps';
import { about, bare, edited, lastLines, opensItself, since, summary, tookOf, verdict } from './words';

const source = { attempt: 1, from: { segment: 0, offset: 0 }, next: { segment: 0, offset: 1 }, index: 0 };

function call(tool: string, input: unknown, came: Partial<Came> | null = null): Step {
  const whole = came === null ? null : { at: '2026-11-15T12:00:12Z', text: '', ok: true, durationMs: null, commit: null, cut: 0, source, ...came };
  return { key: 'k', kind: 'call', at: '2026-11-15T12:00:00Z', id: 'a', tool, text: '', input, ok: null, commit: null, part: false, err: false, cut: 0, source, came: whole };
}

test('a call says what it is about in a line', () => {
  expect(about({ command: "/bin/bash -lc 'cargo test\n--all'" })).toBe('cargo test');
  expect(about({ file_path: 'src/a.rs', content: 'x' })).toBe('src/a.rs');
  expect(about(null)).toBe('');
  expect(about([{ path: 'a.rs', kind: 'add' }, { path: 'b.rs' }])).toBe('a.rs, b.rs');
  expect([bare('mcp__mail__send'), bare('Bash')]).toEqual(['send', 'Bash']);
});

test('an edit says how many lines it takes and gives', () => {
  expect(edited(call('Edit', { old_string: 'a\nb', new_string: 'c' }))).toEqual({ added: 1, removed: 2 });
  expect(edited(call('MultiEdit', { edits: [{ old_string: 'a', new_string: 'b\nc\n' }, { old_string: '', new_string: 'd' }] }))).toEqual({ added: 3, removed: 1 });
  expect(edited(call('Write', { content: 'a\nb\n' }))).toEqual({ added: 2, removed: 0 });
  expect(edited(call('Read', { file_path: 'a' }))).toBeNull();
});

test('how it went is told in a word', () => {
  expect(verdict(call('Bash', {}))).toBeNull();
  expect(verdict(call('Bash', {}, { ok: false, text: 'Exit code 100\nboom' }))).toEqual({ ok: false, word: 'exit 100' });
  expect(verdict(call('shell', {}, { ok: false, text: 'boom\nexit 2' }))).toEqual({ ok: false, word: 'exit 2' });
  expect(verdict(call('Read', {}, { ok: false, text: 'gone' }))).toEqual({ ok: false, word: 'failed' });
  expect(verdict(call('Bash', {}, { text: '1 passed\n23 tests passed, 2 skipped' }))).toEqual({ ok: true, word: '23 passed' });
  expect(verdict(call('Read', {}, { text: '23 passed' }))).toBeNull();
});

test('times are since the beginning, and a call took what it says or what passed', () => {
  expect([since('2026-11-15T12:04:07Z', '2026-11-15T12:00:00Z'), since('2026-11-15T13:04:07Z', '2026-11-15T12:00:00Z')]).toEqual(['04:07', '1:04:07']);
  expect([tookOf(call('Bash', {}, {})), tookOf(call('Bash', {}, { durationMs: 7 })), tookOf(call('Bash', {}))]).toEqual([12_000, 7, null]);
});

test('what failed and what is short opens itself', () => {
  expect(opensItself(call('Read', {}, { text: 'a file' }))).toBe(false);
  expect(opensItself(call('Read', {}, { text: 'no such file', ok: false }))).toBe(true);
  expect(opensItself(call('Bash', {}, { text: 'ok' }))).toBe(true);
  expect(opensItself(call('Bash', {}, { text: 'x\n'.repeat(50) }))).toBe(false);
});

test('who cannot see hears a summary', () => {
  const message: Step = { ...call('', null), kind: 'message', text: 'I look at it.' };
  expect(summary([message, call('Bash', { command: 'ls' })])).toBe('1 message, 1 call. Last: Bash ls');
  expect(summary([{ ...message, kind: 'output' }])).toBe('');
});

test('of a long text the last lines are shown', () => {
  expect(lastLines('a\nb\n', 200, 20)).toEqual({ text: 'a\nb\n', left: 0 });
  expect(lastLines('a\nb\nc\nd\n', 3, 2)).toEqual({ text: 'c\nd', left: 2 });
});
