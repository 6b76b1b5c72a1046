// The merge queue as a train: what is in, what is being tried, what comes next, and what was sent back.
import { plural, shortId, time } from '../../parts/format';
import type { Merge, Merges } from '../../api/types';

/** How a station looks; its colour comes from the agent's state of the same meaning. */
export type Look = 'merged' | 'checking' | 'next' | 'queued' | 'held' | 'sentBack';

export interface Station {
  readonly merge: Merge;
  readonly look: Look;
  /** What stands under the title. */
  readonly line: string;
}

const MERGED_SHOWN = 3;
const BACK_SHOWN = 3;
const ORDER: Readonly<Record<Look, number>> = { merged: 0, checking: 1, next: 2, queued: 3, held: 4, sentBack: 5 };

export const shortCommit = (commit: string): string => commit.slice(0, 7);

/** What failed, in short. */
export function whatFailed(merge: Merge): string {
  if (merge.conflicts.length > 0) return plural(merge.conflicts.length, 'file does not fit', 'files do not fit');
  return merge.reason ?? 'no reason given';
}

function lookOf(merge: Merge): Look {
  if (merge.state === 'merged') return 'merged';
  if (merge.state === 'merging') return 'checking';
  if (merge.state === 'held') return 'held';
  if (merge.state === 'sent_back') return 'sentBack';
  return merge.position === 1 ? 'next' : 'queued';
}

function lineOf(merge: Merge, look: Look): string {
  const at = merge.endedAt === null ? '' : time(merge.endedAt);
  switch (look) {
    case 'merged':
      return `merged ${shortCommit(merge.mergedCommit ?? merge.commit)}, ${at}`;
    case 'checking':
      return 'tried on a scratch worktree';
    case 'next':
      return 'next';
    case 'queued':
      return merge.position === null ? 'waits' : `${merge.position - 1} before it`;
    case 'held':
      return `held: ${whatFailed(merge)}`;
    case 'sentBack':
      return `sent back ${at}: ${whatFailed(merge)}`;
  }
}

/** The stations of the train, from what is in to what was sent back. A task is there once, with what became of it last. */
export function trainOf({ merges, over = [] }: Merges): readonly Station[] {
  const newest = new Map<string, Merge>();
  for (const merge of [...over.toReversed(), ...merges]) newest.set(merge.taskId, merge);
  const all = [...newest.values()].map((merge): Station => {
    const look = lookOf(merge);
    return { merge, look, line: lineOf(merge, look) };
  });
  const of = (...looks: readonly Look[]) => all.filter((station) => looks.includes(station.look));
  const byEnd = (a: Station, b: Station) => (a.merge.endedAt ?? '').localeCompare(b.merge.endedAt ?? '');
  const waiting = of('checking', 'next', 'queued', 'held').sort(
    (a, b) => ORDER[a.look] - ORDER[b.look] || (a.merge.position ?? 0) - (b.merge.position ?? 0) || a.merge.createdAt.localeCompare(b.merge.createdAt),
  );
  return [...of('merged').sort(byEnd).slice(-MERGED_SHOWN), ...waiting, ...of('sentBack').sort(byEnd).slice(-BACK_SHOWN)];
}

/** Whether something moves, so that it is worth looking again soon. */
export const isMoving = (merges: Merges | undefined): boolean =>
  merges?.merges.some((merge) => merge.state === 'queued' || merge.state === 'merging') ?? false;

/** A branch that work goes into, as people call it: an epic's own is known by the end of its id. */
export function targetName(target: string): string {
  const epic = /^adjutant\/epic\/(.+)$/.exec(target)?.[1];
  return epic === undefined ? target : `epic ${shortId(epic)}`;
}

/** The branches that the train goes to: "main", "main and 2 more". */
export function targetsOf(stations: readonly Station[]): string {
  const targets = [...new Set(stations.map((station) => targetName(station.merge.target)))];
  const [first = 'a branch'] = targets;
  return targets.length <= 1 ? first : `${first} and ${targets.length - 1} more`;
}
