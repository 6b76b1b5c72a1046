// The reviews page: work that waits for the operator, work with reviewers, and the merge queue.
import { useLocation, useParams } from 'wouter';
import { kinds, useRefresh } from '../../api/live';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { DeskList } from './DeskList';
import { groupsOf, itemOf } from './items';
import { LimitPane } from './LimitPane';
import { MergePane } from './MergePane';
import { useDesk } from './queries';
import { ReviewPane } from './ReviewPane';
import { StoryPane } from './StoryPane';
import { trainOf } from './train';
import { WorkPane } from './WorkPane';
import css from './ReviewsPage.module.css';

export default function ReviewsPage() {
  const { id = null } = useParams<{ id?: string }>();
  const [, go] = useLocation();
  const desk = useDesk();
  useRefresh(kinds('review.', 'merge.', 'task.updated', 'task.assigned', 'pull.', 'agent.finished', 'agent.state_changed'), [['reviews']], 800);

  const open = (next: string | null) => go(`/reviews${next === null ? '' : `/${next}`}${window.location.search}`);
  const groups = groupsOf(desk.tasks, desk.limited, desk.reviews);
  const stations = desk.merges === undefined ? [] : trainOf(desk.merges);
  const items = groups.flatMap((group) => group.items);
  const item = itemOf(groups, id);
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

  const pane = () => {
    if (id === null) return null;
    const back = () => open(null);
    // The call may take a moment; a visitor who has opened something else meanwhile stays there.
    const done = () => {
      if (window.location.pathname === `/reviews/${id}`) open(null);
    };
    if (isMerge) return <MergePane key={id} id={id} onBack={back} />;
    if (item === null) return desk.ready ? <StoryPane key={id} id={id} onBack={back} /> : <Skeleton rows={12} />;
    if (item.kind === 'approve') return <WorkPane key={item.id} task={item.task} onBack={back} onDone={done} />;
    if (item.kind === 'limit') return <LimitPane key={item.id} coder={item.coder} onBack={back} onDone={done} />;
    return <ReviewPane key={item.id} review={item.review} onBack={back} />;
  };

  return (
    <Page name="Reviews">
      <div className={css.page} data-open={id !== null}>
        <div className={`scroll ${css.list}`}>
          {desk.error !== null && items.length === 0 && !desk.ready ? (
            <Problem error={desk.error} title="The reviews could not be read" onRetry={desk.again} />
          ) : desk.ready ? (
            <DeskList groups={groups} stations={stations} selected={isMerge ? id : (item?.id ?? null)} more={desk.more} onOpen={open} />
          ) : (
            <Skeleton rows={8} height={50} />
          )}
        </div>
        <section className={css.pane} aria-label="What is looked at">
          {pane()}
          {id === null && desk.ready && (
            <div className={css.nothing}>
              {items.length === 0 ? (
                <Empty title="Nothing to review" commands={['adjutant reviews --all']}>
                  Finished work of the agents that you start waits here for your approval. A coder can ask for a review earlier with the
                  tool <code>request_review</code>. The latest merges are listed at the left.
                </Empty>
              ) : (
                <Empty title="Choose an item">
                  <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>[</kbd> and <kbd>]</kbd> move between files, <kbd>v</kbd> marks one as seen.
                </Empty>
              )}
            </div>
          )}
        </section>
      </div>
    </Page>
  );
}
