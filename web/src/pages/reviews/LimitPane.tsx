// Decision about an agent at its review limit: allow one more review, open a pull request, or
// abandon it.
import { CircleAlert, Eye, GitPullRequest, RotateCcw, Trash2, User } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { plural, shortId } from '../../parts/format';
import { useParam } from '../../shell/url';
import { Changes } from './Changes';
import { Foot, useAway } from './Foot';
import { BranchFact, Fact, Head, type DiffLook } from './Head';
import { verdictOf } from './notes';
import { useActs, useStory } from './queries';
import type { Coder, ReviewStory } from '../../api/types';
import css from './LimitPane.module.css';

interface Props {
  readonly coder: Coder;
  readonly onBack: () => void;
  readonly onDone: () => void;
}

export function LimitPane({ coder, onBack, onDone }: Props) {
  const [look, setLook] = useParam<DiffLook>('diff', 'split');
  const story = useStory(coder.coderId);
  const readOnly = useReadOnly();
  const who = `${coder.role} ${shortId(coder.coderId)}`;
  const reviews = story.data?.reviews ?? [];
  const last = reviews.at(-1);
  return (
    <>
      <Head title={coder.task?.title ?? who} number={coder.task?.number} look={look} onLook={setLook} pull={story.data?.pullRequest} onBack={onBack}>
        <Fact icon={CircleAlert} state="waiting_input">
          {coder.iterations} of {plural(coder.maxIterations, 'round')} used, {coder.failures} failed; after {coder.abandonAfter} failed ones it is abandoned
        </Fact>
        {last !== undefined && (
          <Fact icon={Eye}>
            {last.reviewerRole ?? 'reviewer'} {shortId(last.reviewerId)} {verdictOf(last)}
          </Fact>
        )}
        {coder.branch !== null && <BranchFact branch={coder.branch} target={null} behind={null} />}
        <Fact icon={User}>
          <Link href={`/agents/${coder.coderId}`}>{who}</Link>
        </Fact>
      </Head>
      <Changes agent={coder.coderId} commit={last?.commit ?? null} look={look} reviews={reviews} />
      {!readOnly && <Decide coder={coder} story={story.data} onDone={onDone} />}
    </>
  );
}

function Decide({ coder, story, onDone }: { readonly coder: Coder; readonly story: ReviewStory | undefined; readonly onDone: () => void }) {
  const acts = useActs();
  const away = useAway();
  const box = useRef<HTMLTextAreaElement>(null);
  const [reason, setReason] = useState('');
  const [asking, setAsking] = useState<'abandon' | 'pull' | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const who = `${coder.role} ${shortId(coder.coderId)}`;
  const lift = async () => {
    setBusy(true);
    setError(null);
    try {
      await acts.allowMore(coder.coderId);
      onDone();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <>
      <Foot
        label="Why"
        placeholder="Why, where you give it up"
        value={reason}
        maxLength={2000}
        onChange={setReason}
        box={box}
        problem={error === null ? null : <Problem error={error} title="The limit could not be lifted" />}
      >
        <Button look="danger" disabled={busy || away} icon={<Trash2 size={14} aria-hidden="true" />} onClick={() => setAsking('abandon')}>
          Abandon
        </Button>
        <Button disabled={busy || away} icon={<GitPullRequest size={14} aria-hidden="true" />} onClick={() => setAsking('pull')}>
          Open the pull request
        </Button>
        <Button look="primary" disabled={busy || away} icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => void lift()}>
          Allow one more review
        </Button>
      </Foot>
      {asking === 'abandon' && (
        <Confirm
          title={`Abandon the work of ${who}?`}
          verb="Abandon it"
          onClose={() => setAsking(null)}
          onConfirm={async () => {
            await acts.abandon(coder.coderId, reason.trim());
            onDone();
          }}
        >
          <p>
            The agent and its reviewer end, after {plural(coder.iterations, 'review')}. Its commits stay on <code>{coder.branch ?? 'its branch'}</code>; uncommitted
            changes go to a rescue branch. Its worktree is removed.
          </p>
        </Confirm>
      )}
      {asking === 'pull' && <PullDialog coder={coder} story={story} onClose={() => setAsking(null)} onDone={onDone} />}
    </>
  );
}

function PullDialog({ coder, story, onClose, onDone }: { readonly coder: Coder; readonly story: ReviewStory | undefined; readonly onClose: () => void; readonly onDone: () => void }) {
  const acts = useActs();
  const message = story?.reviews.at(-1)?.message ?? '';
  const [title, setTitle] = useState(coder.task?.title ?? message.split('\n')[0] ?? '');
  const [description, setDescription] = useState(message);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const ready = title.trim() !== '' && description.trim() !== '' && !busy;
  const open = async () => {
    setBusy(true);
    setError(null);
    try {
      await acts.openPull(coder.coderId, title.trim(), description);
      onDone();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" disabled={!ready} onClick={() => void open()}>
        Open the pull request
      </Button>
    </>
  );
  return (
    <Dialog title={`Open a pull request with the work of ${coder.role} ${shortId(coder.coderId)}`} onClose={onClose} foot={foot}>
      <div className={css.form}>
        <Field label="Title">{(control) => <input {...control} type="text" value={title} maxLength={256} onChange={(event) => setTitle(event.target.value)} />}</Field>
        <Field label="Description" help="Its branch is pushed to GitHub, and this stands above it.">
          {(control) => <textarea {...control} rows={6} value={description} maxLength={65_536} onChange={(event) => setDescription(event.target.value)} />}
        </Field>
      </div>
      {error !== null && <Problem error={error} title="The pull request could not be opened" />}
    </Dialog>
  );
}
