import { expect, test } from 'vitest';
import type { CallResult, Step } from './steps';
import { describeCall, getToolName, countEditedLines, keepLastLines, opensByDefault, formatOffset, summarizeSteps, getCallDuration, getVerdict } from './stepText';

const source = { attempt: 1, from: { segment: 0, offset: 0 }, next: { segment: 0, offset: 1 }, index: 0 };

function buildCall(tool: string, input: unknown, result: Partial<CallResult> | null = null): Step {
  const fullResult = result === null ? null : { at: '2026-11-15T12:00:12Z', text: '', ok: true, durationMs: null, commit: null, cut: 0, source, ...result };
  return { key: 'k', kind: 'call', at: '2026-11-15T12:00:00Z', id: 'a', tool, text: '', input, ok: null, commit: null, part: false, err: false, cut: 0, source, result: fullResult };
}

test('a call is described in one line', () => {
  expect(describeCall({ command: "/bin/bash -lc 'cargo test\n--all'" })).toBe('cargo test');
  expect(describeCall({ file_path: 'src/a.rs', content: 'x' })).toBe('src/a.rs');
  expect(describeCall(null)).toBe('');
  expect(describeCall([{ path: 'a.rs', kind: 'add' }, { path: 'b.rs' }])).toBe('a.rs, b.rs');
  expect([getToolName('mcp__mail__send'), getToolName('Bash')]).toEqual(['send', 'Bash']);
});

test('an edit counts added and removed lines', () => {
  expect(countEditedLines(buildCall('Edit', { old_string: 'a\nb', new_string: 'c' }))).toEqual({ added: 1, removed: 2 });
  expect(countEditedLines(buildCall('MultiEdit', { edits: [{ old_string: 'a', new_string: 'b\nc\n' }, { old_string: '', new_string: 'd' }] }))).toEqual({ added: 3, removed: 1 });
  expect(countEditedLines(buildCall('Write', { content: 'a\nb\n' }))).toEqual({ added: 2, removed: 0 });
  expect(countEditedLines(buildCall('Read', { file_path: 'a' }))).toBeNull();
});

test('the outcome is described in a word', () => {
  expect(getVerdict(buildCall('Bash', {}))).toBeNull();
  expect(getVerdict(buildCall('Bash', {}, { ok: false, text: 'Exit code 100\nboom' }))).toEqual({ isOk: false, text: 'exit 100' });
  expect(getVerdict(buildCall('shell', {}, { ok: false, text: 'boom\nexit 2' }))).toEqual({ isOk: false, text: 'exit 2' });
  expect(getVerdict(buildCall('Read', {}, { ok: false, text: 'gone' }))).toEqual({ isOk: false, text: 'failed' });
  expect(getVerdict(buildCall('Bash', {}, { text: '1 passed\n23 tests passed, 2 skipped' }))).toEqual({ isOk: true, text: '23 passed' });
  expect(getVerdict(buildCall('Read', {}, { text: '23 passed' }))).toBeNull();
});

test('times are relative to the start, and durations reported or measured', () => {
  expect([formatOffset('2026-11-15T12:04:07Z', '2026-11-15T12:00:00Z'), formatOffset('2026-11-15T13:04:07Z', '2026-11-15T12:00:00Z')]).toEqual(['04:07', '1:04:07']);
  expect([getCallDuration(buildCall('Bash', {}, {})), getCallDuration(buildCall('Bash', {}, { durationMs: 7 })), getCallDuration(buildCall('Bash', {}))]).toEqual([12_000, 7, null]);
});

test('errors and short output are open by default', () => {
  expect(opensByDefault(buildCall('Read', {}, { text: 'a file' }))).toBe(false);
  expect(opensByDefault(buildCall('Read', {}, { text: 'no such file', ok: false }))).toBe(true);
  expect(opensByDefault(buildCall('Bash', {}, { text: 'ok' }))).toBe(true);
  expect(opensByDefault(buildCall('Bash', {}, { text: 'x\n'.repeat(50) }))).toBe(false);
});

test('screen readers get a summary', () => {
  const message: Step = { ...buildCall('', null), kind: 'message', text: 'I look at it.' };
  expect(summarizeSteps([message, buildCall('Bash', { command: 'ls' })])).toBe('1 message, 1 call. Last: Bash ls');
  expect(summarizeSteps([{ ...message, kind: 'output' }])).toBe('');
});

test('a long text is cut to its last lines', () => {
  expect(keepLastLines('a\nb\n', 200, 20)).toEqual({ text: 'a\nb\n', left: 0 });
  expect(keepLastLines('a\nb\nc\nd\n', 3, 2)).toEqual({ text: 'c\nd', left: 2 });
});
