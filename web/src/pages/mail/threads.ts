// Groups mail into rows: one per thread, open questions first, then by day. Rows keep their
// position while someone reads; new threads wait until they are requested.
import type { Letter, Person } from '../../api/types';

export interface Row {
  readonly threadId: string;
  /** The mail that represents the thread: an open question, otherwise the newest. */
  readonly letter: Letter;
  readonly group: string;
  readonly unread: boolean;
  readonly needsAnswer: boolean;
  /** Number of mail items of the thread in this list. */
  readonly letters: number;
}

export const ASKS = 'Needs an answer';

/** Name of a sender or recipient: "coder k20wm", "you", "Adjutant". */
export function nameOf(person: Person): string {
  if (person.system === true) return 'Adjutant';
  if (person.human) return 'you';
  return [person.role, person.short].filter(Boolean).join(' ') || 'somebody';
}

/** Day of a mail: "Today", "Yesterday", "Mon 9 Nov". */
export function dayOf(at: string, now: number, afterAsks: boolean): string {
  const day = (time: number | string) => new Date(time).toDateString();
  if (day(at) === day(now)) return afterAsks ? 'Earlier today' : 'Today';
  if (day(at) === day(now - 86_400_000)) return 'Yesterday';
  return new Date(at).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
}

/** Builds the rows of a list in the order of a fresh page. */
export function rowsOf(asks: readonly Letter[], letters: readonly Letter[], now: number): Row[] {
  const threads = new Map<string, Letter[]>();
  const ids = new Set<string>();
  for (const letter of [...asks, ...letters]) {
    if (ids.has(letter.id)) continue;
    ids.add(letter.id);
    threads.set(letter.threadId, [...(threads.get(letter.threadId) ?? []), letter]);
  }
  const rows = [...threads].map(([threadId, all]): Row => {
    const newest = all.reduce((a, b) => (b.createdAt > a.createdAt ? b : a));
    const asking = all.find((letter) => letter.needsAnswer);
    const letter = asking ?? newest;
    const unread = all.some((one) => one.to.human && one.readAt === null);
    return { threadId, letter, group: '', unread, needsAnswer: asking !== undefined, letters: all.length };
  });
  const newestFirst = (a: Row, b: Row) => b.letter.createdAt.localeCompare(a.letter.createdAt) || b.letter.id.localeCompare(a.letter.id);
  const asking = rows.filter((row) => row.needsAnswer).sort(newestFirst);
  const others = rows.filter((row) => !row.needsAnswer).sort(newestFirst);
  const named = (row: Row): Row => ({ ...row, group: dayOf(row.letter.createdAt, now, asking.length > 0) });
  return [...asking.map((row) => ({ ...row, group: ASKS })), ...others.map(named)];
}

/** Position of a row that must not move while it is read. */
export interface Place {
  readonly threadId: string;
  readonly group: string;
}

export const placesOf = (rows: readonly Row[]): readonly Place[] => rows.map(({ threadId, group }) => ({ threadId, group }));

/**
 * Keeps rows at their positions. Existing rows are updated in place, older ones are appended, and
 * newer ones are only counted. Rows of removed threads disappear.
 */
export function keepPlaces(places: readonly Place[], rows: readonly Row[]): { readonly rows: readonly Row[]; readonly fresh: number } {
  if (places.length === 0) return { rows, fresh: 0 };
  const now = new Map(rows.map((row) => [row.threadId, row]));
  const known = new Set(places.map((place) => place.threadId));
  const kept = places.flatMap((place) => {
    const row = now.get(place.threadId);
    return row === undefined ? [] : [{ ...row, group: place.group }];
  });
  if (kept.length === 0) return { rows, fresh: 0 };
  const oldest = kept.reduce((least, row) => (row.letter.createdAt < least ? row.letter.createdAt : least), kept[0]?.letter.createdAt ?? '');
  const others = rows.filter((row) => !known.has(row.threadId));
  const older = others.filter((row) => !row.needsAnswer && row.letter.createdAt <= oldest);
  return { rows: [...kept, ...older], fresh: others.length - older.length };
}

/** Finds the thread to open after this one is done: the next below, otherwise the one above. */
export function nextAfter(rows: readonly Row[], threadId: string): string | null {
  const at = rows.findIndex((row) => row.threadId === threadId);
  return (rows[at + 1] ?? rows[at - 1])?.threadId ?? null;
}
