// A merge: its stage, conflicts and check output.
import { GitCommitHorizontal, RotateCcw, User } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Copy } from '../../parts/Copy';
import { At, Elapsed } from '../../parts/Elapsed';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { shortId } from '../../parts/format';
import { useAway } from './Foot';
import { BranchFact, Fact, Head } from './Head';
import { STATION } from './DeskList';
import { useActs, useMerge } from './queries';
import type { Merge, WatchedMerge } from '../../api/types';
import { shortCommit, trainOf } from './train';
import css from './MergePane.module.css';

function Places({ merge }: { readonly merge: Merge }) {
  return (
    <ul className={css.places}>
      {merge.conflicts.map((conflict) => (
        <li key={conflict.file}>
          <code>{conflict.file}</code>{' '}
          <span className="dim">
            {conflict.kind}
            {conflict.lines.length > 0 && `, lines ${conflict.lines.map((lines) => `${lines.from}–${lines.to}`).join(', ')}`}
          </span>
        </li>
      ))}
      {merge.files.map((file) => (
        <li key={file}>
          <code>{file}</code> <span className="dim">is in the way</span>
        </li>
      ))}
    </ul>
  );
}

function Output({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <h3 className={css.title}>{title}</h3>
      <pre className={`scroll ${css.output}`} tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </>
  );
}

export function MergePane({ id, onBack }: { readonly id: string; readonly onBack: () => void }) {
  const { data, error, refetch } = useMerge(id);
  if (error !== null && data === undefined) return <Problem error={error} title="This merge could not be read" onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={10} />;
  return <Shown merge={data} onBack={onBack} />;
}

function Shown({ merge, onBack }: { readonly merge: WatchedMerge; readonly onBack: () => void }) {
  const readOnly = useReadOnly();
  const away = useAway();
  const acts = useActs();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [station] = trainOf({ merges: [merge] });
  const { icon, state, word } = STATION[station?.look ?? 'queued'];
  const retry = async () => {
    setBusy(true);
    setError(null);
    try {
      await acts.retry(merge.id);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Head title={merge.title} number={merge.number} onBack={onBack}>
        <Fact icon={icon} state={state}>
          {word}
          {merge.endedAt !== null && (
            <>
              {' '}
              at <At at={merge.endedAt} />
            </>
          )}
          {merge.state === 'queued' && merge.position !== null && `, ${merge.position - 1} before it`}
        </Fact>
        <BranchFact branch={merge.branch} target={merge.target} behind={null} />
        {merge.agentId !== null && (
          <Fact icon={User}>
            <Link href={`/agents/${merge.agentId}`}>{shortId(merge.agentId)}</Link>
          </Fact>
        )}
        <Fact icon={GitCommitHorizontal}>
          approved <Copy text={merge.commit} label={shortCommit(merge.commit)} />
          {merge.mergedCommit !== null && (
            <>
              {' '}
              merged as <Copy text={merge.mergedCommit} label={shortCommit(merge.mergedCommit)} />
            </>
          )}
        </Fact>
      </Head>
      <div className={`scroll ${css.body}`}>
        {error !== null && <Problem error={error} title="Failed to return it to the queue" />}
        {merge.reason !== null && <p className={css.reason}>{merge.reason}</p>}
        {merge.state === 'sent_back' && <p className="mid">Its agent received the reason and continues on its branch. The task returns here when it is submitted again.</p>}
        <Places merge={merge} />
        {merge.state === 'merging' && merge.checking == null && <p className="mid">The merge is tried in a separate worktree.</p>}
        {merge.checking != null && (
          <>
            <p className="mid">
              The check runs{' '}
              {merge.checking.startedAt !== null && (
                <>
                  for <Elapsed from={merge.checking.startedAt} />
                </>
              )}
            </p>
            <Output title="Output of the check" text={merge.checking.output.join('\n')} />
          </>
        )}
        {merge.checkOutput !== null && <Output title="The end of what the check said" text={merge.checkOutput} />}
        {merge.state === 'held' && !readOnly && (
          <Button look="primary" disabled={busy || away} icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => void retry()}>
            Try again
          </Button>
        )}
      </div>
    </>
  );
}
