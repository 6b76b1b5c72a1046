// The merge queue as a list: merged, checking, next, queued, held, and sent back.
import { pluralize, shortenId, formatTime } from '../../parts/format';
import type { MergeView, Merges } from '../../api/types';

/** Stage of a merge; its colour is that of the agent state with the same meaning. */
export type QueueStage = 'merged' | 'checking' | 'next' | 'queued' | 'held' | 'sentBack';

export interface QueueEntry {
  readonly merge: MergeView;
  readonly stage: QueueStage;
  /** Text under the title. */
  readonly line: string;
}

const MAX_MERGED_SHOWN = 3;
const MAX_SENT_BACK_SHOWN = 3;
const STAGE_ORDER: Readonly<Record<QueueStage, number>> = { merged: 0, checking: 1, next: 2, queued: 3, held: 4, sentBack: 5 };

export const shortenCommit = (commit: string): string => commit.slice(0, 7);

/** Describes the reason of a failure. */
export function describeFailure(merge: MergeView): string {
  if (merge.conflicts.length > 0) return pluralize(merge.conflicts.length, 'conflicting file');
  return merge.reason ?? 'no reason given';
}

function getStage(merge: MergeView): QueueStage {
  if (merge.state === 'merged') return 'merged';
  if (merge.state === 'merging') return 'checking';
  if (merge.state === 'held') return 'held';
  if (merge.state === 'sent_back') return 'sentBack';
  return merge.position === 1 ? 'next' : 'queued';
}

function describeStage(merge: MergeView, stage: QueueStage): string {
  const at = merge.endedAt === null ? '' : formatTime(merge.endedAt);
  switch (stage) {
    case 'merged':
      return `merged ${shortenCommit(merge.mergedCommit ?? merge.commit)}, ${at}`;
    case 'checking':
      return 'trial merge in a separate worktree';
    case 'next':
      return 'next';
    case 'queued':
      return merge.position === null ? 'waits' : `${merge.position - 1} ahead`;
    case 'held':
      return `held: ${describeFailure(merge)}`;
    case 'sentBack':
      return `sent back ${at}: ${describeFailure(merge)}`;
  }
}

/**
 * Builds the entries in the order of their stages. Each task appears once, with its newest merge.
 */
export function buildQueue({ merges, over = [] }: Merges): readonly QueueEntry[] {
  const newest = new Map<string, MergeView>();
  for (const merge of [...over.toReversed(), ...merges]) newest.set(merge.taskId, merge);
  const all = [...newest.values()].map((merge): QueueEntry => {
    const stage = getStage(merge);
    return { merge, stage, line: describeStage(merge, stage) };
  });
  const filterStages = (...stages: readonly QueueStage[]) => all.filter((station) => stages.includes(station.stage));
  const byEnd = (a: QueueEntry, b: QueueEntry) => (a.merge.endedAt ?? '').localeCompare(b.merge.endedAt ?? '');
  const waiting = filterStages('checking', 'next', 'queued', 'held').sort(
    (a, b) => STAGE_ORDER[a.stage] - STAGE_ORDER[b.stage] || (a.merge.position ?? 0) - (b.merge.position ?? 0) || a.merge.createdAt.localeCompare(b.merge.createdAt),
  );
  return [...filterStages('merged').sort(byEnd).slice(-MAX_MERGED_SHOWN), ...waiting, ...filterStages('sentBack').sort(byEnd).slice(-MAX_SENT_BACK_SHOWN)];
}

/** True if a merge is queued or running, so that the list needs polling. */
export const isQueueMoving = (merges: Merges | undefined): boolean =>
  merges?.merges.some((merge) => merge.state === 'queued' || merge.state === 'merging') ?? false;

/** Display name of a target branch: an epic's branch is shown by its short id. */
export function formatTarget(target: string): string {
  const epic = /^adjutant\/epic\/(.+)$/.exec(target)?.[1];
  return epic === undefined ? target : `epic ${shortenId(epic)}`;
}

/** Names the target branches: "main", "main and 2 more". */
export function describeTargets(queue: readonly QueueEntry[]): string {
  const targets = [...new Set(queue.map((station) => formatTarget(station.merge.target)))];
  const [first = 'a branch'] = targets;
  return targets.length <= 1 ? first : `${first} and ${targets.length - 1} more`;
}
