// Decision about an agent at its review limit: allow one more review, open a pull request, or
// abandon it.
import { CircleAlert, Eye, GitPullRequest, RotateCcw, Trash2, User } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { ConfirmDialog } from '../../parts/ConfirmDialog';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { pluralize, shortenId } from '../../parts/format';
import type { DiffView } from '../../parts/diff/rows';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { DecisionFooter, useIsDisconnected } from './DecisionFooter';
import { BranchFact, Fact, ReviewHeader } from './ReviewHeader';
import { describeVerdict } from './notes';
import { useReviewActions, useStory } from './queries';
import type { CoderView, ReviewStory } from '../../api/types';
import css from './LimitPane.module.css';

interface Props {
  readonly coder: CoderView;
  readonly onBack: () => void;
  readonly onDone: () => void;
}

export function LimitPane({ coder, onBack, onDone }: Props) {
  const [view, setView] = useParam<DiffView>('diff', 'split');
  const story = useStory(coder.coderId);
  const readOnly = useReadOnly();
  const coderName = `${coder.role} ${shortenId(coder.coderId)}`;
  const reviews = story.data?.reviews ?? [];
  const last = reviews.at(-1);
  return (
    <>
      <ReviewHeader title={coder.task?.title ?? coderName} number={coder.task?.number} view={view} onView={setView} pull={story.data?.pullRequest} onBack={onBack}>
        <Fact icon={CircleAlert} state="waiting_input">
          {coder.iterations} of {pluralize(coder.maxIterations, 'round')} used, {coder.failures} failed; abandoned after {pluralize(coder.abandonAfter, 'failure')}
        </Fact>
        {last !== undefined && (
          <Fact icon={Eye}>
            {last.reviewerRole ?? 'reviewer'} {shortenId(last.reviewerId)} {describeVerdict(last)}
          </Fact>
        )}
        {coder.branch !== null && <BranchFact branch={coder.branch} target={null} behind={null} />}
        <Fact icon={User}>
          <Link href={`/agents/${coder.coderId}`}>{coderName}</Link>
        </Fact>
      </ReviewHeader>
      <Changes agent={coder.coderId} commit={last?.commit ?? null} view={view} reviews={reviews} />
      {!readOnly && <LimitDecision coder={coder} story={story.data} onDone={onDone} />}
    </>
  );
}

function LimitDecision({ coder, story, onDone }: { readonly coder: CoderView; readonly story: ReviewStory | undefined; readonly onDone: () => void }) {
  const actions = useReviewActions();
  const isDisconnected = useIsDisconnected();
  const box = useRef<HTMLTextAreaElement>(null);
  const [reason, setReason] = useState('');
  const [dialog, setDialog] = useState<'abandon' | 'pull' | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const coderName = `${coder.role} ${shortenId(coder.coderId)}`;
  const allowMore = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await actions.allowMore(coder.coderId);
      onDone();
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  return (
    <>
      <DecisionFooter
        label="Reason"
        placeholder="Reason for abandoning (optional)"
        value={reason}
        maxLength={2000}
        onChange={setReason}
        box={box}
        problem={error === null ? null : <Problem error={error} title="The review could not be allowed" />}
      >
        <Button variant="danger" disabled={isBusy || isDisconnected} icon={<Trash2 size={14} aria-hidden="true" />} onClick={() => setDialog('abandon')}>
          Abandon
        </Button>
        <Button disabled={isBusy || isDisconnected} icon={<GitPullRequest size={14} aria-hidden="true" />} onClick={() => setDialog('pull')}>
          Open pull request
        </Button>
        <Button variant="primary" disabled={isBusy || isDisconnected} icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => void allowMore()}>
          Allow one more review
        </Button>
      </DecisionFooter>
      {dialog === 'abandon' && (
        <ConfirmDialog
          title={`Abandon the work of ${coderName}?`}
          verb="Abandon"
          onClose={() => setDialog(null)}
          onConfirm={async () => {
            await actions.abandon(coder.coderId, reason.trim());
            onDone();
          }}
        >
          <p>
            The agent and its reviewer end, after {pluralize(coder.iterations, 'review')}. Its commits stay on <code>{coder.branch ?? 'its branch'}</code>; uncommitted
            changes go to a rescue branch. Its worktree is removed.
          </p>
        </ConfirmDialog>
      )}
      {dialog === 'pull' && <PullRequestDialog coder={coder} story={story} onClose={() => setDialog(null)} onDone={onDone} />}
    </>
  );
}

function PullRequestDialog({ coder, story, onClose, onDone }: { readonly coder: CoderView; readonly story: ReviewStory | undefined; readonly onClose: () => void; readonly onDone: () => void }) {
  const actions = useReviewActions();
  const message = story?.reviews.at(-1)?.message ?? '';
  const [title, setTitle] = useState(coder.task?.title ?? message.split('\n')[0] ?? '');
  const [description, setDescription] = useState(message);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const canSubmit = title.trim() !== '' && description.trim() !== '' && !isBusy;
  const open = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await actions.openPull(coder.coderId, title.trim(), description);
      onDone();
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" disabled={!canSubmit} onClick={() => void open()}>
        Open pull request
      </Button>
    </>
  );
  return (
    <Dialog title={`Open a pull request with the work of ${coder.role} ${shortenId(coder.coderId)}`} onClose={onClose} footer={footer}>
      <div className={css.form}>
        <Field label="Title">{(control) => <input {...control} type="text" value={title} maxLength={256} onChange={(event) => setTitle(event.target.value)} />}</Field>
        <Field label="Description" help="The branch is pushed to GitHub; this becomes the text of the pull request.">
          {(control) => <textarea {...control} rows={6} value={description} maxLength={65_536} onChange={(event) => setDescription(event.target.value)} />}
        </Field>
      </div>
      {error !== null && <Problem error={error} title="The pull request could not be opened" />}
    </Dialog>
  );
}
