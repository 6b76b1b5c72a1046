// Items of the review list. A link may name an item by agent, reviewer or task.
import { pluralize, shortenId } from '../../parts/format';
import type { CoderView, ReviewView, ReviewQueueTask } from '../../api/types';

export type ReviewItem =
  | { readonly kind: 'approve'; readonly id: string; readonly title: string; readonly line: string; readonly task: ReviewQueueTask }
  | { readonly kind: 'limit'; readonly id: string; readonly title: string; readonly line: string; readonly coder: CoderView }
  | { readonly kind: 'review'; readonly id: string; readonly title: string; readonly line: string; readonly review: ReviewView };

export interface ItemGroup {
  readonly name: string;
  readonly items: readonly ReviewItem[];
}

/** True if a merge of the work is pending, so that no decision is needed. */
const isMergePending = (task: ReviewQueueTask): boolean => task.lastMerge !== null && task.lastMerge.endedAt === null;

function buildApproveItem(task: ReviewQueueTask): ReviewItem {
  const rounds = task.worker === null || task.worker.iterations === 0 ? null : pluralize(task.worker.iterations, 'round');
  const files = task.branch === null ? 'no branch' : pluralize(task.changedFiles, 'file');
  const line = [task.number, files, rounds].filter(Boolean).join(', ');
  return { kind: 'approve', id: task.worker?.id ?? task.number, title: task.title, line, task };
}

function buildLimitItem(coder: CoderView): ReviewItem {
  const line = [coder.task?.number ?? shortenId(coder.coderId), `${coder.iterations} of ${coder.maxIterations} reviews used: allow more or end`].join(', ');
  return { kind: 'limit', id: coder.coderId, title: coder.task?.title ?? `${coder.role} ${shortenId(coder.coderId)}`, line, coder };
}

function buildReviewItem(review: ReviewView): ReviewItem {
  const line = [review.task?.number ?? shortenId(review.coderId), `round ${review.iteration} of ${review.maxIterations}`].join(', ');
  return { kind: 'review', id: review.coderId, title: review.task?.title ?? `${review.coderRole} ${shortenId(review.coderId)}`, line, review };
}

/** Builds the groups of the list; omits empty ones. */
export function buildGroups(tasks: readonly ReviewQueueTask[], limited: readonly CoderView[], reviews: readonly ReviewView[]): readonly ItemGroup[] {
  const waiting = tasks.filter((task) => !isMergePending(task));
  const operatorTasks = waiting.filter((task) => task.supervisorId === null);
  const supervisorTasks = waiting.filter((task) => task.supervisorId !== null);
  // Work that waits for approval or is at its limit is listed only there.
  const listedIds = new Set([...waiting.map((task) => task.worker?.id), ...limited.map((coder) => coder.coderId)]);
  const groups = [
    { name: 'Waits for you', items: [...operatorTasks.map(buildApproveItem), ...limited.map(buildLimitItem)] },
    { name: 'With a reviewer', items: reviews.filter((review) => review.endedAt === null && !listedIds.has(review.coderId)).map(buildReviewItem) },
    { name: 'With a supervisor', items: supervisorTasks.map(buildApproveItem) },
  ];
  return groups.filter((group) => group.items.length > 0);
}

/** Finds the item that a link names. */
export function findItem(groups: readonly ItemGroup[], id: string | null): ReviewItem | null {
  if (id === null) return null;
  const listNames = (item: ReviewItem): readonly (string | undefined)[] => {
    if (item.kind === 'approve') return [item.id, item.task.id, item.task.number, item.task.slug];
    if (item.kind === 'limit') return [item.id, item.coder.task?.number, item.coder.task?.slug];
    return [item.id, item.review.reviewerId, item.review.task?.number, item.review.task?.slug];
  };
  return groups.flatMap((group) => group.items).find((item) => listNames(item).includes(id)) ?? null;
}
