// The merge queue as a list: merged, checking, next, queued, held, and sent back.
import { plural, shortId, time } from '../../parts/format';
import type { Merge, Merges } from '../../api/types';

/** Stage of a merge; its colour is that of the agent state with the same meaning. */
export type Look = 'merged' | 'checking' | 'next' | 'queued' | 'held' | 'sentBack';

export interface Station {
  readonly merge: Merge;
  readonly look: Look;
  /** Text under the title. */
  readonly line: string;
}

const MERGED_SHOWN = 3;
const BACK_SHOWN = 3;
const ORDER: Readonly<Record<Look, number>> = { merged: 0, checking: 1, next: 2, queued: 3, held: 4, sentBack: 5 };

export const shortCommit = (commit: string): string => commit.slice(0, 7);

/** Describes the reason of a failure. */
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

/**
 * Builds the entries in the order of their stages. Each task appears once, with its newest merge.
 */
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

/** True if a merge is queued or running, so that the list needs polling. */
export const isMoving = (merges: Merges | undefined): boolean =>
  merges?.merges.some((merge) => merge.state === 'queued' || merge.state === 'merging') ?? false;

/** Display name of a target branch: an epic's branch is shown by its short id. */
export function targetName(target: string): string {
  const epic = /^adjutant\/epic\/(.+)$/.exec(target)?.[1];
  return epic === undefined ? target : `epic ${shortId(epic)}`;
}

/** Names the target branches: "main", "main and 2 more". */
export function targetsOf(stations: readonly Station[]): string {
  const targets = [...new Set(stations.map((station) => targetName(station.merge.target)))];
  const [first = 'a branch'] = targets;
  return targets.length <= 1 ? first : `${first} and ${targets.length - 1} more`;
}
