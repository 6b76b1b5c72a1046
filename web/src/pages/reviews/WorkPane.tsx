// Decision about work that waits for approval: approve it or send it back.
import { CircleAlert, CircleCheck, CircleX, Eye, FileWarning, GitMerge, TriangleAlert, Undo2, User } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Problem } from '../../parts/Problem';
import { isOver, lookOf } from '../../parts/State';
import { plural, shortId } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { Foot, useAway } from './Foot';
import { BranchFact, Fact, Head, type DiffLook } from './Head';
import { verdictOf } from './notes';
import { useActs, useStory } from './queries';
import type { ReviewQueueTask, ReviewStory } from '../../api/types';
import { targetName, whatFailed } from './train';

function Facts({ task, story }: { readonly task: ReviewQueueTask; readonly story: ReviewStory | undefined }) {
  const last = story?.reviews.findLast((review) => review.state !== 'undone');
  const { worker, lastMerge } = task;
  const clashes = task.overlaps.filter((overlap) => (overlap.conflicts?.length ?? 0) > 0);
  const touches = task.overlaps.filter((overlap) => (overlap.conflicts?.length ?? 0) === 0);
  return (
    <>
      {task.problem !== undefined && (
        <Fact icon={CircleAlert} bad>
          {task.problem}
        </Fact>
      )}
      {task.mergesCleanly === true && (
        <Fact icon={CircleCheck} state="succeeded">
          merges cleanly
        </Fact>
      )}
      {task.mergesCleanly === false && (
        <Fact icon={CircleX} bad>
          does not merge: {task.conflicts.map((conflict) => conflict.file).join(', ')}
        </Fact>
      )}
      {last !== undefined && (
        <Fact icon={Eye}>
          {last.reviewerRole ?? 'reviewer'} {shortId(last.reviewerId)} {verdictOf(last)}, round {last.iteration} of {last.maxIterations}
        </Fact>
      )}
      {task.branch !== null && <BranchFact branch={task.branch} target={task.target} behind={task.behind} />}
      {worker !== null && (
        <Fact icon={User}>
          <Link href={`/agents/${worker.id}`}>
            {worker.role} {shortId(worker.id)}
          </Link>{' '}
          <span className="dim">{lookOf(worker.state).word.toLowerCase()}</span>
        </Fact>
      )}
      {clashes.map((overlap) => (
        <Fact key={overlap.taskId} icon={TriangleAlert} bad>
          collides with {overlap.slug} in {(overlap.conflicts ?? []).map((conflict) => conflict.file).join(', ')}
        </Fact>
      ))}
      {touches.length > 0 && <Fact icon={GitMerge}>changes the same files as {touches.map((overlap) => overlap.slug).join(', ')}, without conflict</Fact>}
      {task.uncommitted.length > 0 && <Fact icon={FileWarning}>{plural(task.uncommitted.length, 'file is', 'files are')} not committed, and no part of it</Fact>}
      {lastMerge !== null && lastMerge.state === 'sent_back' && (
        <Fact icon={Undo2}>
          <Link href={`/reviews/${lastMerge.id}`}>was sent back before: {whatFailed(lastMerge)}</Link>
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

export function WorkPane({ task, onBack, onDone }: Props) {
  const [look, setLook] = useParam<DiffLook>('diff', 'split');
  const story = useStory(task.worker?.id ?? null);
  const readOnly = useReadOnly();
  return (
    <>
      <Head title={task.title} number={task.number} look={look} onLook={setLook} pull={task.pullRequest} onBack={onBack}>
        <Facts task={task} story={story.data} />
      </Head>
      <Changes agent={task.worker?.id ?? null} commit={task.commit} look={look} reviews={story.data?.reviews ?? []} />
      {!readOnly && <Decide task={task} onDone={onDone} />}
    </>
  );
}

function Decide({ task, onDone }: { readonly task: ReviewQueueTask; readonly onDone: () => void }) {
  const acts = useActs();
  const away = useAway();
  const box = useRef<HTMLTextAreaElement>(null);
  const [reason, setReason] = useState('');
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [missing, setMissing] = useState(false);
  const { worker } = task;
  const goesOn = worker !== null && !isOver(worker.state);
  const who = worker === null ? 'the next agent' : `${worker.role} ${shortId(worker.id)}`;
  const sendBack = async () => {
    if (reason.trim() === '') {
      setMissing(true);
      box.current?.focus();
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await acts.sendBack(task, reason.trim());
      setReason('');
      onDone();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  useKeys({
    c: () => box.current?.focus(),
    ...(away || busy ? {} : { r: () => void sendBack(), A: () => setAsking(true) }),
  });
  const problem =
    error !== null ? (
      <Problem error={error} title="It could not be sent back" />
    ) : missing && reason.trim() === '' ? (
      <p role="alert" className="small">
        Describe the changes, then send the work back.
      </p>
    ) : null;
  return (
    <>
      <Foot
        label="Why, or what to change"
        placeholder={goesOn ? `Describe the changes. ${who} receives them by mail, and they become a comment on the task.` : `Describe the changes. ${worker === null ? '' : `${who} has ended. `}The next agent reads them in the task's comments.`}
        value={reason}
        maxLength={100_000}
        onChange={setReason}
        box={box}
        problem={problem}
      >
        <Button disabled={busy || away} icon={<Undo2 size={14} aria-hidden="true" />} hint="r" onClick={() => void sendBack()}>
          Send back
        </Button>
        <Button look="primary" disabled={busy || away} icon={<GitMerge size={14} aria-hidden="true" />} hint="⇧A" onClick={() => setAsking(true)}>
          Approve and queue
        </Button>
      </Foot>
      {asking && (
        <Confirm
          title={`Approve ${task.number} and queue it?`}
          verb="Approve and queue"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await acts.approve(task);
            onDone();
          }}
        >
          {task.branch === null ? (
            <p>It has no branch of its own, so nothing is merged and the task completes at once.</p>
          ) : (
            <p>
              {plural(task.changedFiles, 'file')}, {plural(task.additions, 'new line')} and {plural(task.deletions, 'line')} gone are merged into{' '}
              <code>{targetName(task.target ?? '')}</code> when their turn comes and the project's check passes.
            </p>
          )}
          {goesOn && <p>{who} ends once that is done.</p>}
          {task.mergesCleanly === false && <p>It does not merge cleanly and will be sent back with the {plural(task.conflicts.length, 'conflict')}.</p>}
        </Confirm>
      )}
    </>
  );
}
