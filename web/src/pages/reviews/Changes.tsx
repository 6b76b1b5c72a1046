// Changes under review: files as chips, the diff, and the reviewers' notes under their files or at
// the end.
import { Check } from 'lucide-react';
import { useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { Diff } from '../../parts/diff/Diff';
import { Empty } from '../../parts/Empty';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { plural, shortId } from '../../parts/format';
import type { DiffLook } from './Head';
import { notesOf, verdictOf, withoutFeedback, type Note } from './notes';
import { useDiff } from './queries';
import { useSeen } from './seen';
import type { AgentDiff, Review } from '../../api/types';
import { shortCommit } from './train';
import css from './Changes.module.css';

interface Props {
  /** Author of the work; null if there is none on record. */
  readonly agent: string | null;
  /** Head of the branch. Marks of seen files apply to one commit only. */
  readonly commit: string | null;
  readonly look: DiffLook;
  readonly reviews: readonly Review[];
}

const NARROW = '(max-width: 699px)';

/** True if the window is too narrow for a split diff. */
function useNarrow(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const query = window.matchMedia(NARROW);
      query.addEventListener('change', watcher);
      return () => query.removeEventListener('change', watcher);
    },
    () => window.matchMedia(NARROW).matches,
  );
}

function NoteView({ note }: { readonly note: Note }) {
  const { review, text } = note;
  const came = review.feedback?.commit ?? null;
  return (
    <div className={css.note}>
      <p className={css.who}>
        <span className="strong">
          {review.reviewerRole ?? 'reviewer'} {shortId(review.reviewerId)}
        </span>
        <span className="tiny dim">
          round {review.iteration}, {verdictOf(review)}
          {came !== null && `, came by ${shortCommit(came)}`}
        </span>
      </p>
      <div className="mid">
        <Markdown text={text} />
      </div>
    </div>
  );
}

function Notes({ notes }: { readonly notes: readonly Note[] }): ReactNode {
  if (notes.length === 0) return null;
  return notes.map((note) => <NoteView key={`${note.review.reviewerId} ${note.text}`} note={note} />);
}

function Shown({ diff, look, reviews }: { readonly diff: AgentDiff; readonly look: DiffLook; readonly reviews: readonly Review[] }) {
  const [seen, toggle] = useSeen(diff.head ?? diff.base ?? 'none');
  const paths = diff.files.map((file) => file.path);
  const notes = notesOf(reviews, paths);
  const rest = notes.get('') ?? [];
  if (diff.files.length === 0) {
    return (
      <div className={`scroll ${css.none}`}>
        <Empty title="Nothing changed">{diff.why ?? 'No changes against the target branch.'}</Empty>
        <Notes notes={rest} />
      </div>
    );
  }
  const done = paths.filter((path) => seen.has(path)).length;
  return (
    <>
      <div className={css.chips}>
        <ul className={css.files} aria-label="Files">
          {diff.files.map((file) => (
            <li key={file.path}>
              <button
                type="button"
                className={css.chip}
                aria-pressed={seen.has(file.path)}
                title={seen.has(file.path) ? 'Marked as seen; click to unmark' : 'Mark as seen'}
                onClick={() => toggle(file.path)}
              >
                {seen.has(file.path) && <Check size={12} aria-hidden="true" />}
                <span>{file.path}</span>
                {file.added > 0 && <span className="plus">+{file.added}</span>}
                {file.removed > 0 && <span className="minus">−{file.removed}</span>}
              </button>
            </li>
          ))}
        </ul>
        <span className="tiny dim">
          {done} of {plural(paths.length, 'file')} seen
        </span>
      </div>
      {diff.truncated && <p className={css.warning}>The diff is too long to be shown completely. See the branch for the rest.</p>}
      <div className={css.diff}>
        <Diff
          patch={diff.patch}
          view={look}
          files={diff.files}
          seen={seen}
          onSeen={toggle}
          notes={(path) => (notes.has(path) ? <Notes notes={notes.get(path) ?? []} /> : null)}
        />
      </div>
      {rest.length > 0 && (
        <details className={css.rest} open>
          <summary>{plural(rest.length, "reviewer's note", "reviewers' notes")}</summary>
          <Notes notes={rest} />
        </details>
      )}
    </>
  );
}

export function Changes({ agent, commit, look, reviews }: Props) {
  const { data, error, refetch } = useDiff(agent, commit);
  const narrow = useNarrow();
  const work = useMemo(() => (data === undefined ? undefined : withoutFeedback(data)), [data]);
  if (agent === null) {
    return <Empty title="Nobody is known to have done it">The task has no agent on record, so there is no branch to compare.</Empty>;
  }
  if (work !== undefined) return <Shown diff={work} look={narrow ? 'unified' : look} reviews={reviews} />;
  if (error !== null) return <Problem error={error} title="The changes could not be read" onRetry={() => void refetch()} />;
  return <Skeleton rows={14} height={22} />;
}
