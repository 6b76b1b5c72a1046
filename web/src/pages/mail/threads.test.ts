import { describe, expect, it } from 'vitest';
import type { Letter, Person } from '../../api/types';
import { ASKS, dayOf, keepPlaces, nameOf, nextAfter, placesOf, rowsOf } from './threads';

const NOW = Date.parse('2026-11-15T14:12:00Z');
const HUMAN: Person = { agentId: null, role: null, short: null, state: null, human: true, system: false };
const AGENT: Person = { agentId: 'sp_1', role: 'coder', short: 'k20wm', state: 'running', human: false, system: false };

function letter(id: string, minute: number, change: Partial<Letter> = {}): Letter {
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

const ids = (rows: readonly { threadId: string }[]) => rows.map((row) => row.threadId);

describe('the rows of the list', () => {
  it('puts what needs an answer first, then the newest', () => {
    const question = letter('q', 1, { kind: 'question', needsAnswer: true });
    const rows = rowsOf([question], [letter('b', 9), letter('a', 3), question], NOW);
    expect(ids(rows)).toEqual(['q', 'b', 'a']);
    expect(rows.map((row) => row.group)).toEqual([ASKS, 'Earlier today', 'Earlier today']);
  });

  it('shows a thread once, by the letter that asks, else by the newest', () => {
    const old = letter('a', 1, { needsAnswer: true, kind: 'question', readAt: '2026-11-15T13:02:00Z' });
    const rows = rowsOf([], [letter('a2', 5, { threadId: 'a' }), old, letter('b2', 4, { threadId: 'b' }), letter('b', 2)], NOW);
    expect(rows.map((row) => [row.threadId, row.letter.id, row.letters, row.unread])).toEqual([
      ['a', 'a', 2, true],
      ['b', 'b2', 2, true],
    ]);
  });

  it('counts only what was written to the human as unread', () => {
    const sent = letter('s', 1, { from: HUMAN, to: AGENT });
    expect(rowsOf([], [sent], NOW)[0]?.unread).toBe(false);
  });

  it('says that mail is from Adjutant itself, whatever agent it is about', () => {
    expect(nameOf({ ...AGENT, system: true })).toBe('Adjutant');
    expect(nameOf({ ...HUMAN, human: false, system: true })).toBe('Adjutant');
    expect(nameOf(AGENT)).toBe('coder k20wm');
  });

  it('names days as people do', () => {
    expect(dayOf('2026-11-15T09:00:00Z', NOW, false)).toBe('Today');
    expect(dayOf('2026-11-14T12:00:00Z', NOW, true)).toBe('Yesterday');
    expect(dayOf('2026-11-09T12:00:00Z', NOW, true)).toBe('Mon 9 Nov');
  });
});

describe('places', () => {
  const before = rowsOf([], [letter('b', 5), letter('a', 3)], NOW);

  it('holds new threads back and counts them', () => {
    const question = letter('q', 9, { needsAnswer: true, kind: 'question' });
    const after = rowsOf([question], [letter('c', 8), letter('b', 5), letter('a', 3)], NOW);
    const held = keepPlaces(placesOf(before), after);
    expect(ids(held.rows)).toEqual(['b', 'a']);
    expect(held.fresh).toBe(2);
    expect(ids(keepPlaces([], after).rows)).toEqual(['q', 'c', 'b', 'a']);
  });

  it('changes a row in its place, though it would stand elsewhere', () => {
    const places = placesOf(rowsOf([letter('a', 3, { needsAnswer: true })], [letter('b', 5)], NOW));
    const answered = rowsOf([], [letter('b', 5), letter('a', 3)], NOW);
    const held = keepPlaces(places, answered);
    expect(held.rows.map((row) => [row.threadId, row.group, row.needsAnswer])).toEqual([
      ['a', ASKS, false],
      ['b', 'Earlier today', false],
    ]);
    expect(held.fresh).toBe(0);
  });

  it('lets older letters in below, since they push nothing', () => {
    const after = rowsOf([], [letter('b', 5), letter('a', 3), letter('z', 1)], NOW);
    expect(keepPlaces(placesOf(before), after)).toMatchObject({ fresh: 0 });
    expect(ids(keepPlaces(placesOf(before), after).rows)).toEqual(['b', 'a', 'z']);
  });

  it('starts anew when nothing of what was shown is left', () => {
    const other = rowsOf([], [letter('n', 9)], NOW);
    expect(keepPlaces(placesOf(before), other)).toEqual({ rows: other, fresh: 0 });
  });

  it('goes to the next thread, at the end to the one before', () => {
    expect(nextAfter(before, 'b')).toBe('a');
    expect(nextAfter(before, 'a')).toBe('b');
    expect(nextAfter(before.slice(0, 1), 'b')).toBeNull();
  });
});

it('calls people by their names', () => {
  expect(nameOf(HUMAN)).toBe('you');
  expect(nameOf(AGENT)).toBe('coder k20wm');
  expect(nameOf({ ...AGENT, role: null, short: null })).toBe('somebody');
});
