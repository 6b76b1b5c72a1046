// Groups mail into rows: one per thread, open questions first, then by day. Rows keep their
// position while a person reads; new threads wait until they are requested.
import type { MailItem, PersonView } from '../../api/types';

export interface ThreadRow {
  readonly threadId: string;
  /** The mail that represents the thread: an open question, otherwise the newest. */
  readonly mail: MailItem;
  readonly group: string;
  readonly isUnread: boolean;
  readonly needsAnswer: boolean;
  /** Number of mail items of the thread in this list. */
  readonly mailCount: number;
}

export const NEEDS_ANSWER_GROUP = 'Needs an answer';

/** Name of a sender or recipient: "coder k20wm", "you", "Adjutant". */
export function getPersonName(person: PersonView): string {
  if (person.system === true) return 'Adjutant';
  if (person.human) return 'you';
  return [person.role, person.short].filter(Boolean).join(' ') || 'unknown';
}

/** Day of a mail: "Today", "Yesterday", "Mon 9 Nov". */
export function formatDay(at: string, now: number, afterAsks: boolean): string {
  const day = (time: number | string) => new Date(time).toDateString();
  if (day(at) === day(now)) return afterAsks ? 'Earlier today' : 'Today';
  if (day(at) === day(now - 86_400_000)) return 'Yesterday';
  return new Date(at).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
}

/** Builds the rows of a list in the order of a fresh page. */
export function buildThreadRows(questions: readonly MailItem[], mail: readonly MailItem[], now: number): ThreadRow[] {
  const threads = new Map<string, MailItem[]>();
  const ids = new Set<string>();
  for (const item of [...questions, ...mail]) {
    if (ids.has(item.id)) continue;
    ids.add(item.id);
    threads.set(item.threadId, [...(threads.get(item.threadId) ?? []), item]);
  }
  const rows = [...threads].map(([threadId, items]): ThreadRow => {
    const newest = items.reduce((a, b) => (b.createdAt > a.createdAt ? b : a));
    const question = items.find((item) => item.needsAnswer);
    const item = question ?? newest;
    const unread = items.some((one) => one.to.human && one.readAt === null);
    return { threadId, mail: item, group: '', isUnread: unread, needsAnswer: question !== undefined, mailCount: items.length };
  });
  const newestFirst = (a: ThreadRow, b: ThreadRow) => b.mail.createdAt.localeCompare(a.mail.createdAt) || b.mail.id.localeCompare(a.mail.id);
  const asking = rows.filter((row) => row.needsAnswer).sort(newestFirst);
  const others = rows.filter((row) => !row.needsAnswer).sort(newestFirst);
  const named = (row: ThreadRow): ThreadRow => ({ ...row, group: formatDay(row.mail.createdAt, now, asking.length > 0) });
  return [...asking.map((row) => ({ ...row, group: NEEDS_ANSWER_GROUP })), ...others.map(named)];
}

/** Position of a row that must not move while it is read. */
export interface RowPosition {
  readonly threadId: string;
  readonly group: string;
}

export const getPositions = (rows: readonly ThreadRow[]): readonly RowPosition[] => rows.map(({ threadId, group }) => ({ threadId, group }));

/**
 * Keeps rows at their positions. Existing rows are updated in place, older ones are appended, and
 * newer ones are only counted. Rows of removed threads disappear.
 */
export function keepPositions(positions: readonly RowPosition[], rows: readonly ThreadRow[]): { readonly rows: readonly ThreadRow[]; readonly fresh: number } {
  if (positions.length === 0) return { rows, fresh: 0 };
  const now = new Map(rows.map((row) => [row.threadId, row]));
  const knownIds = new Set(positions.map((position) => position.threadId));
  const existing = positions.flatMap((position) => {
    const row = now.get(position.threadId);
    return row === undefined ? [] : [{ ...row, group: position.group }];
  });
  if (existing.length === 0) return { rows, fresh: 0 };
  const oldest = existing.reduce((oldestSoFar, row) => (row.mail.createdAt < oldestSoFar ? row.mail.createdAt : oldestSoFar), existing[0]?.mail.createdAt ?? '');
  const added = rows.filter((row) => !knownIds.has(row.threadId));
  const older = added.filter((row) => !row.needsAnswer && row.mail.createdAt <= oldest);
  return { rows: [...existing, ...older], fresh: added.length - older.length };
}

/** Finds the thread to open after this one is done: the next below, otherwise the one above. */
export function findNextThread(rows: readonly ThreadRow[], threadId: string): string | null {
  const at = rows.findIndex((row) => row.threadId === threadId);
  return (rows[at + 1] ?? rows[at - 1])?.threadId ?? null;
}
