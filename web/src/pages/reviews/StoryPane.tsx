// Past reviews of work that needs no decision.
import { Eye, User } from 'lucide-react';
import { Link } from 'wouter';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { plural, shortId } from '../../parts/format';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { BranchFact, Fact, Head, type DiffLook } from './Head';
import { verdictOf } from './notes';
import { useStory } from './queries';

export function StoryPane({ id, onBack }: { readonly id: string; readonly onBack: () => void }) {
  const [look, setLook] = useParam<DiffLook>('diff', 'split');
  const { data, error, refetch } = useStory(id);
  if (error !== null) return <Problem error={error} title="There is nothing to look at under this address" onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={12} />;
  const who = `${data.role} ${shortId(data.coderId)}`;
  const last = data.reviews.at(-1);
  return (
    <>
      <Head title={data.task?.title ?? who} number={data.task?.number} look={look} onLook={setLook} pull={data.pullRequest} onBack={onBack}>
        <Fact icon={Eye}>
          {last === undefined
            ? 'not reviewed yet'
            : `${plural(data.reviews.length, 'review')}; ${last.reviewerRole ?? 'reviewer'} ${shortId(last.reviewerId)} ${verdictOf(last)}`}
        </Fact>
        {data.branch !== null && <BranchFact branch={data.branch} target={null} behind={null} />}
        <Fact icon={User}>
          <Link href={`/agents/${data.coderId}`}>{who}</Link>
        </Fact>
      </Head>
      <Changes agent={data.coderId} commit={last?.commit ?? null} look={look} reviews={data.reviews} />
    </>
  );
}
