import { describe, expect, it } from 'vitest';
import type { MailItem, PersonView } from '../../api/types';
import { NEEDS_ANSWER_GROUP, formatDay, keepPositions, getPersonName, findNextThread, getPositions, buildThreadRows } from './threads';

const NOW = Date.parse('2026-11-15T14:12:00Z');
const HUMAN: PersonView = { agentId: null, role: null, short: null, state: null, human: true, system: false };
const AGENT: PersonView = { agentId: 'sp_1', role: 'coder', short: 'k20wm', state: 'running', human: false, system: false };

function buildMail(id: string, minute: number, change: Partial<MailItem> = {}): MailItem {
  return {
    id,
    threadId: id,
    from: AGENT,
    to: HUMAN,
    subject: id,
    preview: '',
    createdAt: `2026-11-15T13:${String(minute).padStart(2, '0')}:00.000Z`,
    readAt: null,
    kind: 'letter',
    needsAnswer: false,
    replies: 0,
    ...change,
  };
}

const getIds = (rows: readonly { threadId: string }[]) => rows.map((row) => row.threadId);

describe('the rows of the list', () => {
  it('are sorted by open questions, then newest first', () => {
    const question = buildMail('q', 1, { kind: 'question', needsAnswer: true });
    const rows = buildThreadRows([question], [buildMail('b', 9), buildMail('a', 3), question], NOW);
    expect(getIds(rows)).toEqual(['q', 'b', 'a']);
    expect(rows.map((row) => row.group)).toEqual([NEEDS_ANSWER_GROUP, 'Earlier today', 'Earlier today']);
  });

  it('show a thread once, by its question or its newest mail', () => {
    const old = buildMail('a', 1, { needsAnswer: true, kind: 'question', readAt: '2026-11-15T13:02:00Z' });
    const rows = buildThreadRows([], [buildMail('a2', 5, { threadId: 'a' }), old, buildMail('b2', 4, { threadId: 'b' }), buildMail('b', 2)], NOW);
    expect(rows.map((row) => [row.threadId, row.mail.id, row.mailCount, row.isUnread])).toEqual([
      ['a', 'a', 2, true],
      ['b', 'b2', 2, true],
    ]);
  });

  it('count only mail to the operator as unread', () => {
    const sent = buildMail('s', 1, { from: HUMAN, to: AGENT });
    expect(buildThreadRows([], [sent], NOW)[0]?.isUnread).toBe(false);
  });

  it('name Adjutant as the sender of system mail', () => {
    expect(getPersonName({ ...AGENT, system: true })).toBe('Adjutant');
    expect(getPersonName({ ...HUMAN, human: false, system: true })).toBe('Adjutant');
    expect(getPersonName(AGENT)).toBe('coder k20wm');
  });

  it('name days', () => {
    expect(formatDay('2026-11-15T09:00:00Z', NOW, false)).toBe('Today');
    expect(formatDay('2026-11-14T12:00:00Z', NOW, true)).toBe('Yesterday');
    expect(formatDay('2026-11-09T12:00:00Z', NOW, true)).toBe('Mon 9 Nov');
  });
});

describe('positions', () => {
  const before = buildThreadRows([], [buildMail('b', 5), buildMail('a', 3)], NOW);

  it('hold new threads back and count them', () => {
    const question = buildMail('q', 9, { needsAnswer: true, kind: 'question' });
    const after = buildThreadRows([question], [buildMail('c', 8), buildMail('b', 5), buildMail('a', 3)], NOW);
    const held = keepPositions(getPositions(before), after);
    expect(getIds(held.rows)).toEqual(['b', 'a']);
    expect(held.fresh).toBe(2);
    expect(getIds(keepPositions([], after).rows)).toEqual(['q', 'c', 'b', 'a']);
  });

  it('keep a row that would be sorted elsewhere', () => {
    const positions = getPositions(buildThreadRows([buildMail('a', 3, { needsAnswer: true })], [buildMail('b', 5)], NOW));
    const answered = buildThreadRows([], [buildMail('b', 5), buildMail('a', 3)], NOW);
    const held = keepPositions(positions, answered);
    expect(held.rows.map((row) => [row.threadId, row.group, row.needsAnswer])).toEqual([
      ['a', NEEDS_ANSWER_GROUP, false],
      ['b', 'Earlier today', false],
    ]);
    expect(held.fresh).toBe(0);
  });

  it('append older threads', () => {
    const after = buildThreadRows([], [buildMail('b', 5), buildMail('a', 3), buildMail('z', 1)], NOW);
    expect(keepPositions(getPositions(before), after)).toMatchObject({ fresh: 0 });
    expect(getIds(keepPositions(getPositions(before), after).rows)).toEqual(['b', 'a', 'z']);
  });

  it('start anew if all rows are gone', () => {
    const other = buildThreadRows([], [buildMail('n', 9)], NOW);
    expect(keepPositions(getPositions(before), other)).toEqual({ rows: other, fresh: 0 });
  });

  it('lead to the next thread, at the end to the previous one', () => {
    expect(findNextThread(before, 'b')).toBe('a');
    expect(findNextThread(before, 'a')).toBe('b');
    expect(findNextThread(before.slice(0, 1), 'b')).toBeNull();
  });
});

it('names senders and recipients', () => {
  expect(getPersonName(HUMAN)).toBe('you');
  expect(getPersonName(AGENT)).toBe('coder k20wm');
  expect(getPersonName({ ...AGENT, role: null, short: null })).toBe('unknown');
});
