// Items of the review list. A link may name an item by agent, reviewer or task.
import { plural, shortId } from '../../parts/format';
import type { Coder, Review, ReviewQueueTask } from '../../api/types';

export type Item =
  | { readonly kind: 'approve'; readonly id: string; readonly title: string; readonly line: string; readonly task: ReviewQueueTask }
  | { readonly kind: 'limit'; readonly id: string; readonly title: string; readonly line: string; readonly coder: Coder }
  | { readonly kind: 'review'; readonly id: string; readonly title: string; readonly line: string; readonly review: Review };

export interface Group {
  readonly name: string;
  readonly items: readonly Item[];
}

/** True if a merge of the work is pending, so that no decision is needed. */
const isUnderWay = (task: ReviewQueueTask): boolean => task.lastMerge !== null && task.lastMerge.endedAt === null;

function approveItem(task: ReviewQueueTask): Item {
  const rounds = task.worker === null || task.worker.iterations === 0 ? null : plural(task.worker.iterations, 'round');
  const files = task.branch === null ? 'no branch of its own' : plural(task.changedFiles, 'file');
  const line = [task.number, files, rounds].filter(Boolean).join(', ');
  return { kind: 'approve', id: task.worker?.id ?? task.number, title: task.title, line, task };
}

function limitItem(coder: Coder): Item {
  const line = [coder.task?.number ?? shortId(coder.coderId), `${coder.iterations} of ${coder.maxIterations} reviews used: allow more or end`].join(', ');
  return { kind: 'limit', id: coder.coderId, title: coder.task?.title ?? `${coder.role} ${shortId(coder.coderId)}`, line, coder };
}

function reviewItem(review: Review): Item {
  const line = [review.task?.number ?? shortId(review.coderId), `round ${review.iteration} of ${review.maxIterations}`].join(', ');
  return { kind: 'review', id: review.coderId, title: review.task?.title ?? `${review.coderRole} ${shortId(review.coderId)}`, line, review };
}

/** Builds the groups of the list; omits empty ones. */
export function groupsOf(tasks: readonly ReviewQueueTask[], limited: readonly Coder[], reviews: readonly Review[]): readonly Group[] {
  const waiting = tasks.filter((task) => !isUnderWay(task));
  const mine = waiting.filter((task) => task.supervisorId === null);
  const led = waiting.filter((task) => task.supervisorId !== null);
  // Work that waits for approval or is at its limit is listed only there.
  const told = new Set([...waiting.map((task) => task.worker?.id), ...limited.map((coder) => coder.coderId)]);
  const groups = [
    { name: 'Waits for you', items: [...mine.map(approveItem), ...limited.map(limitItem)] },
    { name: 'With a reviewer', items: reviews.filter((review) => review.endedAt === null && !told.has(review.coderId)).map(reviewItem) },
    { name: 'With a supervisor', items: led.map(approveItem) },
  ];
  return groups.filter((group) => group.items.length > 0);
}

/** Finds the item that a link names. */
export function itemOf(groups: readonly Group[], id: string | null): Item | null {
  if (id === null) return null;
  const names = (item: Item): readonly (string | undefined)[] => {
    if (item.kind === 'approve') return [item.id, item.task.id, item.task.number, item.task.slug];
    if (item.kind === 'limit') return [item.id, item.coder.task?.number, item.coder.task?.slug];
    return [item.id, item.review.reviewerId, item.review.task?.number, item.review.task?.slug];
  };
  return groups.flatMap((group) => group.items).find((item) => names(item).includes(id)) ?? null;
}
