import { expect, test } from 'vitest';
import type { LiveEvent } from '../api/live';
import { changesOf, noticeOf } from './notify';

const event = (kind: LiveEvent['kind'], data: Record<string, unknown>): LiveEvent =>
  ({ number: 7, kind, at: '2026-11-15T12:00:00Z', agentId: 'sp_1', taskId: null, data }) as LiveEvent;

test('mail to the human, failures and approvals are told', () => {
  expect(noticeOf(event('mail.sent', { isForHuman: true, subject: 'Which one?', mailId: 'ml_1' }))).toMatchObject({ body: 'Which one?', href: '/mail/ml_1' });
  expect(noticeOf(event('agent.finished', { state: 'timed_out', role: 'coder', reason: 'silent' }))).toMatchObject({ title: 'coder timed out', href: '/agents/sp_1' });
  expect(noticeOf(event('merge.changed', { state: 'held', branch: 'adjutant/coder' }))).toMatchObject({ href: '/reviews', body: 'adjutant/coder' });
  expect(noticeOf(event('task.updated', { from: 'in_progress', to: 'review', number: 3, slug: 'parser' }))).toMatchObject({ title: 'Work waits for approval', body: 'TAS-3 parser' });
});

test('what goes as it should is not', () => {
  expect(noticeOf(event('mail.sent', { isForHuman: false }))).toBeNull();
  expect(noticeOf(event('agent.finished', { state: 'succeeded' }))).toBeNull();
  expect(noticeOf(event('merge.changed', { state: 'merged' }))).toBeNull();
  expect(noticeOf(event('task.updated', { from: 'review', to: 'review', number: 3, slug: 'parser' }))).toBeNull();
});

test('changed settings are told in a few words', () => {
  const reloaded = (changes?: readonly string[]) => changesOf(event('config.reloaded', { roles: 4, warnings: [], ...(changes && { changes }) }));
  expect(reloaded()).toBeNull();
  expect(changesOf(event('mail.sent', { changes: ['x'] }))).toBeNull();
  expect(reloaded(['role coder: tools gains Bash'])).toBe('Changed settings were read: role coder: tools gains Bash');
  expect(reloaded(['a', 'b', 'c', 'd', 'e'])).toBe('Changed settings were read: a; b; c; and 2 more');
});
