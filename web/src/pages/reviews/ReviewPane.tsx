// Work with a reviewer. The operator can read it; the decision is the reviewer's.
import { Eye, MessageSquare, User } from 'lucide-react';
import { Link } from 'wouter';
import { Elapsed } from '../../parts/Elapsed';
import { shortId } from '../../parts/format';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { BranchFact, Fact, Head, type DiffLook } from './Head';
import { useStory } from './queries';
import type { Review } from '../../api/types';

export function ReviewPane({ review, onBack }: { readonly review: Review; readonly onBack: () => void }) {
  const [look, setLook] = useParam<DiffLook>('diff', 'split');
  const story = useStory(review.coderId);
  const who = `${review.coderRole} ${shortId(review.coderId)}`;
  return (
    <>
      <Head title={review.task?.title ?? who} number={review.task?.number} look={look} onLook={setLook} pull={story.data?.pullRequest} onBack={onBack}>
        <Fact icon={Eye} state="waiting_review">
          <Link href={`/agents/${review.reviewerId}`}>
            {review.reviewerRole ?? 'reviewer'} {shortId(review.reviewerId)}
          </Link>{' '}
          looks at it for <Elapsed from={review.createdAt} />, round {review.iteration} of {review.maxIterations}
        </Fact>
        <BranchFact branch={review.branch} target={null} behind={null} />
        <Fact icon={User}>
          <Link href={`/agents/${review.coderId}`}>{who}</Link>
        </Fact>
        {review.message !== null && <Fact icon={MessageSquare}>“{review.message}”</Fact>}
      </Head>
      <Changes agent={review.coderId} commit={review.commit} look={look} reviews={story.data?.reviews ?? []} />
    </>
  );
}
