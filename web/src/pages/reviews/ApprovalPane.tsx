// Decision about work that waits for approval: approve it or send it back.
import { CircleAlert, CircleCheck, CircleX, Eye, FileWarning, GitMerge, TriangleAlert, Undo2, User } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { CopyButton } from '../../parts/CopyButton';
import { ConfirmDialog } from '../../parts/ConfirmDialog';
import { Problem } from '../../parts/Problem';
import { hasEnded, getStateLook } from '../../parts/State';
import { pluralize, shortenId } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import type { DiffView } from '../../parts/diff/rows';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { DecisionFooter, useIsDisconnected } from './DecisionFooter';
import { BranchFact, Fact, ReviewHeader } from './ReviewHeader';
import { describeVerdict } from './notes';
import { useReviewActions, useStory } from './queries';
import type { ReviewQueueTask, ReviewStory } from '../../api/types';
import { formatTarget, describeFailure } from './mergeQueue';

function ApprovalFacts({ task, story }: { readonly task: ReviewQueueTask; readonly story: ReviewStory | undefined }) {
  const last = story?.reviews.findLast((review) => review.state !== 'undone');
  const { worker, lastMerge } = task;
  const missing = task.missingVariables ?? [];
  const clashes = task.overlaps.filter((overlap) => (overlap.conflicts?.length ?? 0) > 0);
  const touches = task.overlaps.filter((overlap) => (overlap.conflicts?.length ?? 0) === 0);
  return (
    <>
      {task.problem !== undefined && (
        <Fact icon={CircleAlert} isProblem>
          {task.problem}
        </Fact>
      )}
      {task.mergesCleanly === true && (
        <Fact icon={CircleCheck} state="succeeded">
          merges cleanly
        </Fact>
      )}
      {task.mergesCleanly === false && (
        <Fact icon={CircleX} isProblem>
          conflicts in {task.conflicts.map((conflict) => conflict.file).join(', ')}
        </Fact>
      )}
      {last !== undefined && (
        <Fact icon={Eye}>
          {last.reviewerRole ?? 'reviewer'} {shortenId(last.reviewerId)} {describeVerdict(last)}, round {last.iteration} of {last.maxIterations}
        </Fact>
      )}
      {task.branch !== null && <BranchFact branch={task.branch} target={task.target} behind={task.behind} />}
      {worker !== null && (
        <Fact icon={User}>
          <Link href={`/agents/${worker.id}`}>
            {worker.role} {shortenId(worker.id)}
          </Link>{' '}
          <span className="dim">{getStateLook(worker.state).label.toLowerCase()}</span>
        </Fact>
      )}
      {clashes.map((overlap) => (
        <Fact key={overlap.taskId} icon={TriangleAlert} isProblem>
          conflicts with {overlap.slug} in {(overlap.conflicts ?? []).map((conflict) => conflict.file).join(', ')}
        </Fact>
      ))}
      {touches.length > 0 && <Fact icon={GitMerge}>changes the same files as {touches.map((overlap) => overlap.slug).join(', ')}, without conflict</Fact>}
      {task.uncommitted.length > 0 && <Fact icon={FileWarning}>{pluralize(task.uncommitted.length, 'uncommitted file is', 'uncommitted files are')} not included</Fact>}
      {missing.length > 0 && (
        <Fact icon={TriangleAlert} isProblem>
          the check lacks {missing.join(', ')} of the shell since the server restarted: approve with <CopyButton text={`adjutant review approve ${task.number}`} label={`adjutant review approve ${task.number}`} />{' '}
          in a shell that has {missing.length === 1 ? 'it' : 'them'}
        </Fact>
      )}
      {lastMerge !== null && lastMerge.state === 'sent_back' && (
        <Fact icon={Undo2}>
          <Link href={`/reviews/${lastMerge.id}`}>sent back before: {describeFailure(lastMerge)}</Link>
        </Fact>
      )}
    </>
  );
}

interface Props {
  readonly task: ReviewQueueTask;
  readonly onBack: () => void;
  readonly onDone: () => void;
}

export function ApprovalPane({ task, onBack, onDone }: Props) {
  const [view, setView] = useParam<DiffView>('diff', 'split');
  const story = useStory(task.worker?.id ?? null);
  const readOnly = useReadOnly();
  return (
    <>
      <ReviewHeader title={task.title} number={task.number} view={view} onView={setView} pull={task.pullRequest} onBack={onBack}>
        <ApprovalFacts task={task} story={story.data} />
      </ReviewHeader>
      <Changes agent={task.worker?.id ?? null} commit={task.commit} view={view} reviews={story.data?.reviews ?? []} />
      {!readOnly && <ApprovalDecision task={task} onDone={onDone} />}
    </>
  );
}

function ApprovalDecision({ task, onDone }: { readonly task: ReviewQueueTask; readonly onDone: () => void }) {
  const actions = useReviewActions();
  const isDisconnected = useIsDisconnected();
  const box = useRef<HTMLTextAreaElement>(null);
  const [reason, setReason] = useState('');
  const [isConfirming, setIsConfirming] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isReasonMissing, setIsReasonMissing] = useState(false);
  const { worker } = task;
  const missing = task.missingVariables ?? [];
  const isWorkerLive = worker !== null && !hasEnded(worker.state);
  const workerName = worker === null ? 'the next agent' : `${worker.role} ${shortenId(worker.id)}`;
  const sendBack = async () => {
    if (reason.trim() === '') {
      setIsReasonMissing(true);
      box.current?.focus();
      return;
    }
    setIsBusy(true);
    setError(null);
    try {
      await actions.sendBack(task, reason.trim());
      setReason('');
      onDone();
    } catch (problem) {
      setError(problem);
    } finally {
      setIsBusy(false);
    }
  };
  useKeys({
    c: () => box.current?.focus(),
    ...(isDisconnected || isBusy ? {} : { r: () => void sendBack(), A: () => setIsConfirming(true) }),
  });
  const problem =
    error !== null ? (
      <Problem error={error} title="The work could not be sent back" />
    ) : isReasonMissing && reason.trim() === '' ? (
      <p role="alert" className="small">
        Describe the changes, then send the work back.
      </p>
    ) : null;
  return (
    <>
      <DecisionFooter
        label="Feedback"
        placeholder={isWorkerLive ? `Describe the changes. ${workerName} receives them by mail, and they become a comment on the task.` : `Describe the changes. ${worker === null ? '' : `${workerName} has ended. `}The next agent reads them in the task's comments.`}
        value={reason}
        maxLength={100_000}
        onChange={setReason}
        box={box}
        problem={problem}
      >
        <Button disabled={isBusy || isDisconnected} icon={<Undo2 size={14} aria-hidden="true" />} hint="r" onClick={() => void sendBack()}>
          Send back
        </Button>
        <Button variant="primary" disabled={isBusy || isDisconnected} icon={<GitMerge size={14} aria-hidden="true" />} hint="⇧A" onClick={() => setIsConfirming(true)}>
          Approve and queue
        </Button>
      </DecisionFooter>
      {isConfirming && (
        <ConfirmDialog
          title={`Approve ${task.number} and queue it?`}
          verb="Approve and queue"
          onClose={() => setIsConfirming(false)}
          onConfirm={async () => {
            if (missing.length > 0) await actions.acceptServerVariables(task.id);
            await actions.approve(task);
            onDone();
          }}
        >
          {task.branch === null ? (
            <p>It has no branch of its own, so nothing is merged and the task completes at once.</p>
          ) : (
            <p>
              {pluralize(task.changedFiles, 'file')}, {pluralize(task.additions, 'added line')} and {pluralize(task.deletions, 'removed line')} will be merged into{' '}
              <code>{formatTarget(task.target ?? '')}</code> when their turn comes and the project's check passes.
            </p>
          )}
          {missing.length > 0 && <p>The check runs with the server&apos;s environment: the {missing.join(', ')} of the shell went with the server that restarted.</p>}
          {isWorkerLive && <p>{workerName} ends after that.</p>}
          {task.mergesCleanly === false && <p>It does not merge cleanly and will be sent back with {pluralize(task.conflicts.length, 'conflict')}.</p>}
        </ConfirmDialog>
      )}
    </>
  );
}
