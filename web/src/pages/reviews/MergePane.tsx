// A merge: its stage, conflicts and check output.
import { GitCommitHorizontal, RotateCcw, User } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { CopyButton } from '../../parts/CopyButton';
import { Timestamp, Elapsed } from '../../parts/Elapsed';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { shortenId } from '../../parts/format';
import { useIsDisconnected } from './DecisionFooter';
import { BranchFact, Fact, ReviewHeader } from './ReviewHeader';
import { STAGE_LOOKS } from './ReviewList';
import { useReviewActions, useMerge } from './queries';
import type { MergeView, WatchedMerge } from '../../api/types';
import { shortenCommit, buildQueue } from './mergeQueue';
import css from './MergePane.module.css';

function ConflictList({ merge }: { readonly merge: MergeView }) {
  return (
    <ul className={css.conflicts}>
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
          <code>{file}</code> <span className="dim">blocks the merge</span>
        </li>
      ))}
    </ul>
  );
}

function CheckOutput({ title, text }: { readonly title: string; readonly text: string }) {
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
  return <LoadedMerge merge={data} onBack={onBack} />;
}

function LoadedMerge({ merge, onBack }: { readonly merge: WatchedMerge; readonly onBack: () => void }) {
  const readOnly = useReadOnly();
  const isDisconnected = useIsDisconnected();
  const actions = useReviewActions();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [entry] = buildQueue({ merges: [merge] });
  const { icon, state, label } = STAGE_LOOKS[entry?.stage ?? 'queued'];
  const missing = merge.missingVariables ?? [];
  const retry = async (withServerVariables: boolean) => {
    setIsBusy(true);
    setError(null);
    try {
      if (withServerVariables) await actions.acceptServerVariables(merge.taskId);
      await actions.retry(merge.id);
    } catch (problem) {
      setError(problem);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <>
      <ReviewHeader title={merge.title} number={merge.number} onBack={onBack}>
        <Fact icon={icon} state={state}>
          {label}
          {merge.endedAt !== null && (
            <>
              {' '}
              at <Timestamp at={merge.endedAt} />
            </>
          )}
          {merge.state === 'queued' && merge.position !== null && `, ${merge.position - 1} ahead`}
        </Fact>
        <BranchFact branch={merge.branch} target={merge.target} behind={null} />
        {merge.agentId !== null && (
          <Fact icon={User}>
            <Link href={`/agents/${merge.agentId}`}>{shortenId(merge.agentId)}</Link>
          </Fact>
        )}
        <Fact icon={GitCommitHorizontal}>
          approved <CopyButton text={merge.commit} label={shortenCommit(merge.commit)} />
          {merge.mergedCommit !== null && (
            <>
              {' '}
              merged as <CopyButton text={merge.mergedCommit} label={shortenCommit(merge.mergedCommit)} />
            </>
          )}
        </Fact>
      </ReviewHeader>
      <div className={`scroll ${css.body}`}>
        {error !== null && <Problem error={error} title="The merge could not be retried" />}
        {merge.reason !== null && <p className={css.reason}>{merge.reason}</p>}
        {merge.state === 'sent_back' && <p className="mid">Its agent received the reason and continues on its branch. The task returns here when it is submitted again.</p>}
        <ConflictList merge={merge} />
        {merge.state === 'merging' && merge.checking == null && <p className="mid">The merge is tried in a separate worktree.</p>}
        {merge.checking != null && (
          <>
            <p className="mid">
              The check has been running{' '}
              {merge.checking.startedAt !== null && (
                <>
                  for <Elapsed from={merge.checking.startedAt} />
                </>
              )}
            </p>
            <CheckOutput title="Check output" text={merge.checking.output.join('\n')} />
          </>
        )}
        {merge.checkOutput !== null && <CheckOutput title="End of the check output" text={merge.checkOutput} />}
        {merge.setupOutput !== null && <CheckOutput title="End of the set-up output" text={merge.setupOutput} />}
        {merge.state === 'held' && !readOnly && (
          <Button variant="primary" disabled={isBusy || isDisconnected} icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => void retry(missing.length > 0)}>
            {missing.length > 0 ? "Try again with the server's environment" : 'Try again'}
          </Button>
        )}
      </div>
    </>
  );
}
