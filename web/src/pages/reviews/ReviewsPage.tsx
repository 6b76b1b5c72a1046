// The reviews page: work that waits for the operator, work with reviewers, and the merge queue.
import { useLocation, useParams } from 'wouter';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { ReviewList } from './ReviewList';
import { buildGroups, findItem } from './items';
import { LimitPane } from './LimitPane';
import { MergePane } from './MergePane';
import { useReviewLists } from './queries';
import { ReviewPane } from './ReviewPane';
import { PastReviewsPane } from './PastReviewsPane';
import { buildQueue } from './mergeQueue';
import { ApprovalPane } from './ApprovalPane';
import css from './ReviewsPage.module.css';

export default function ReviewsPage() {
  const { id = null } = useParams<{ id?: string }>();
  const [, navigate] = useLocation();
  const lists = useReviewLists();
  useRefreshOnEvents(matchKinds('review.', 'merge.', 'task.updated', 'task.assigned', 'pull.', 'agent.finished', 'agent.state_changed'), [['reviews']], 800);

  const open = (next: string | null) => navigate(`/reviews${next === null ? '' : `/${next}`}${window.location.search}`);
  const groups = buildGroups(lists.tasks, lists.limited, lists.reviews);
  const queue = lists.merges === undefined ? [] : buildQueue(lists.merges);
  const items = groups.flatMap((group) => group.items);
  const item = findItem(groups, id);
  const isMerge = id?.startsWith('merge_') ?? false;
  const move = (by: number) => {
    const at = items.findIndex((one) => one === item);
    const next = items[at < 0 ? 0 : at + by];
    if (next !== undefined) open(next.id);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(id === null ? {} : { Escape: () => open(null) }),
  });

  const renderPane = () => {
    if (id === null) return null;
    const back = () => open(null);
    // The call may take a moment; a visitor who has opened something else meanwhile stays there.
    const closeDecided = () => {
      if (window.location.pathname === `/reviews/${id}`) open(null);
    };
    if (isMerge) return <MergePane key={id} id={id} onBack={back} />;
    if (item === null) return lists.isReady ? <PastReviewsPane key={id} id={id} onBack={back} /> : <Skeleton rows={12} />;
    if (item.kind === 'approve') return <ApprovalPane key={item.id} task={item.task} onBack={back} onDone={closeDecided} />;
    if (item.kind === 'limit') return <LimitPane key={item.id} coder={item.coder} onBack={back} onDone={closeDecided} />;
    return <ReviewPane key={item.id} review={item.review} onBack={back} />;
  };

  return (
    <Page name="Reviews">
      <div className={css.page} data-open={id !== null}>
        <div className={`scroll ${css.list}`}>
          {lists.error !== null && items.length === 0 && !lists.isReady ? (
            <Problem error={lists.error} title="The reviews could not be read" onRetry={lists.retry} />
          ) : lists.isReady ? (
            <ReviewList groups={groups} queue={queue} selected={isMerge ? id : (item?.id ?? null)} onLoadMore={lists.loadMore} onOpen={open} />
          ) : (
            <Skeleton rows={8} height={50} />
          )}
        </div>
        <section className={css.pane} aria-label="Selected item">
          {renderPane()}
          {id === null && lists.isReady && (
            <div className={css.placeholder}>
              {items.length === 0 ? (
                <EmptyState title="Nothing to review" commands={['adjutant reviews --all']}>
                  Finished work of the agents that you start waits here for your approval. A coder can ask for a review earlier with the
                  tool <code>request_review</code>. The latest merges are listed at the left.
                </EmptyState>
              ) : (
                <EmptyState title="Choose an item">
                  <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>[</kbd> and <kbd>]</kbd> move between files, <kbd>v</kbd> marks one as seen.
                </EmptyState>
              )}
            </div>
          )}
        </section>
      </div>
    </Page>
  );
}
