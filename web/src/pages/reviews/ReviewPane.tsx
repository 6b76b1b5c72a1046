// Work with a reviewer. The operator can read it; the decision is the reviewer's.
import { Eye, MessageSquare, User } from 'lucide-react';
import { Link } from 'wouter';
import { Elapsed } from '../../parts/Elapsed';
import { shortenId } from '../../parts/format';
import type { DiffView } from '../../parts/diff/rows';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { BranchFact, Fact, ReviewHeader } from './ReviewHeader';
import { useStory } from './queries';
import type { ReviewView } from '../../api/types';

export function ReviewPane({ review, onBack }: { readonly review: ReviewView; readonly onBack: () => void }) {
  const [view, setView] = useParam<DiffView>('diff', 'split');
  const story = useStory(review.coderId);
  const coderName = `${review.coderRole} ${shortenId(review.coderId)}`;
  return (
    <>
      <ReviewHeader title={review.task?.title ?? coderName} number={review.task?.number} view={view} onView={setView} pull={story.data?.pullRequest} onBack={onBack}>
        <Fact icon={Eye} state="waiting_review">
          <Link href={`/agents/${review.reviewerId}`}>
            {review.reviewerRole ?? 'reviewer'} {shortenId(review.reviewerId)}
          </Link>{' '}
          has been reviewing for <Elapsed from={review.createdAt} />, round {review.iteration} of {review.maxIterations}
        </Fact>
        <BranchFact branch={review.branch} target={null} behind={null} />
        <Fact icon={User}>
          <Link href={`/agents/${review.coderId}`}>{coderName}</Link>
        </Fact>
        {review.message !== null && <Fact icon={MessageSquare}>“{review.message}”</Fact>}
      </ReviewHeader>
      <Changes agent={review.coderId} commit={review.commit} view={view} reviews={story.data?.reviews ?? []} />
    </>
  );
}
