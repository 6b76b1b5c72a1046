import { expect, test } from 'vitest';
import type { LiveEvent } from '../api/live';
import { describeChanges, buildNotice } from './notify';

const buildEvent = (kind: LiveEvent['kind'], data: Record<string, unknown>): LiveEvent =>
  ({ number: 7, kind, at: '2026-11-15T12:00:00Z', agentId: 'sp_1', taskId: null, data }) as LiveEvent;

test('mail to the operator, failures and approvals have a notice', () => {
  expect(buildNotice(buildEvent('mail.sent', { isForHuman: true, subject: 'Which one?', mailId: 'ml_1' }))).toMatchObject({ body: 'Which one?', href: '/mail/ml_1' });
  expect(buildNotice(buildEvent('agent.finished', { state: 'timed_out', role: 'coder', reason: 'silent' }))).toMatchObject({ title: 'coder timed out', href: '/agents/sp_1' });
  expect(buildNotice(buildEvent('merge.changed', { state: 'held', branch: 'adjutant/coder' }))).toMatchObject({ href: '/reviews', body: 'adjutant/coder' });
  expect(buildNotice(buildEvent('task.updated', { from: 'in_progress', to: 'review', number: 3, slug: 'parser' }))).toMatchObject({ title: 'Work waits for approval', body: 'TAS-3 parser' });
});

test('normal progress has no notice', () => {
  expect(buildNotice(buildEvent('mail.sent', { isForHuman: false }))).toBeNull();
  expect(buildNotice(buildEvent('agent.finished', { state: 'succeeded' }))).toBeNull();
  expect(buildNotice(buildEvent('merge.changed', { state: 'merged' }))).toBeNull();
  expect(buildNotice(buildEvent('task.updated', { from: 'review', to: 'review', number: 3, slug: 'parser' }))).toBeNull();
});

test('changed settings are described briefly', () => {
  const reloaded = (changes?: readonly string[]) => describeChanges(buildEvent('config.reloaded', { roles: 4, warnings: [], ...(changes && { changes }) }));
  expect(reloaded()).toBeNull();
  expect(describeChanges(buildEvent('mail.sent', { changes: ['x'] }))).toBeNull();
  expect(reloaded(['role coder: tools gains Bash'])).toBe('Settings changed: role coder: tools gains Bash');
  expect(reloaded(['a', 'b', 'c', 'd', 'e'])).toBe('Settings changed: a; b; c; and 2 more');
});
