// Past reviews of work that needs no decision.
import { Eye, User } from 'lucide-react';
import { Link } from 'wouter';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { pluralize, shortenId } from '../../parts/format';
import type { DiffView } from '../../parts/diff/rows';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { BranchFact, Fact, ReviewHeader } from './ReviewHeader';
import { describeVerdict } from './notes';
import { useStory } from './queries';

export function PastReviewsPane({ id, onBack }: { readonly id: string; readonly onBack: () => void }) {
  const [view, setView] = useParam<DiffView>('diff', 'split');
  const { data, error, refetch } = useStory(id);
  if (error !== null) return <Problem error={error} title="This review could not be read" onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={12} />;
  const coderName = `${data.role} ${shortenId(data.coderId)}`;
  const last = data.reviews.at(-1);
  return (
    <>
      <ReviewHeader title={data.task?.title ?? coderName} number={data.task?.number} view={view} onView={setView} pull={data.pullRequest} onBack={onBack}>
        <Fact icon={Eye}>
          {last === undefined
            ? 'not reviewed yet'
            : `${pluralize(data.reviews.length, 'review')}; ${last.reviewerRole ?? 'reviewer'} ${shortenId(last.reviewerId)} ${describeVerdict(last)}`}
        </Fact>
        {data.branch !== null && <BranchFact branch={data.branch} target={null} behind={null} />}
        <Fact icon={User}>
          <Link href={`/agents/${data.coderId}`}>{coderName}</Link>
        </Fact>
      </ReviewHeader>
      <Changes agent={data.coderId} commit={last?.commit ?? null} view={view} reviews={data.reviews} />
    </>
  );
}
