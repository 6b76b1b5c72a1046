// Changes under review: files as chips, the diff, and the reviewers' notes under their files or at
// the end.
import { Check } from 'lucide-react';
import { useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { Diff } from '../../parts/diff/Diff';
import type { DiffView } from '../../parts/diff/rows';
import { EmptyState } from '../../parts/EmptyState';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { pluralize, shortenId } from '../../parts/format';
import { groupNotes, describeVerdict, removeFeedbackFile, type ReviewNote } from './notes';
import { useDiff } from './queries';
import { useSeenFiles } from './seenFiles';
import type { AgentDiff, ReviewView } from '../../api/types';
import { shortenCommit } from './mergeQueue';
import css from './Changes.module.css';

interface Props {
  /** Author of the work; null if there is none on record. */
  readonly agent: string | null;
  /** Head of the branch. Marks of seen files apply to one commit only. */
  readonly commit: string | null;
  readonly view: DiffView;
  readonly reviews: readonly ReviewView[];
}

const NARROW_QUERY = '(max-width: 699px)';

/** True if the window is too narrow for a split diff. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (subscriber) => {
      const query = window.matchMedia(NARROW_QUERY);
      query.addEventListener('change', subscriber);
      return () => query.removeEventListener('change', subscriber);
    },
    () => window.matchMedia(NARROW_QUERY).matches,
  );
}

function NoteView({ note }: { readonly note: ReviewNote }) {
  const { review, text } = note;
  const commit = review.feedback?.commit ?? null;
  return (
    <div className={css.note}>
      <p className={css.author}>
        <span className="strong">
          {review.reviewerRole ?? 'reviewer'} {shortenId(review.reviewerId)}
        </span>
        <span className="tiny dim">
          round {review.iteration}, {describeVerdict(review)}
          {commit !== null && `, delivered in ${shortenCommit(commit)}`}
        </span>
      </p>
      <div className="mid">
        <Markdown text={text} />
      </div>
    </div>
  );
}

function NoteList({ notes }: { readonly notes: readonly ReviewNote[] }): ReactNode {
  if (notes.length === 0) return null;
  return notes.map((note) => <NoteView key={`${note.review.reviewerId} ${note.text}`} note={note} />);
}

function LoadedChanges({ diff, view, reviews }: { readonly diff: AgentDiff; readonly view: DiffView; readonly reviews: readonly ReviewView[] }) {
  const [seenPaths, toggle] = useSeenFiles(diff.head ?? diff.base ?? 'none');
  const paths = diff.files.map((file) => file.path);
  const notes = groupNotes(reviews, paths);
  const otherNotes = notes.get('') ?? [];
  if (diff.files.length === 0) {
    return (
      <div className={`scroll ${css.none}`}>
        <EmptyState title="Nothing changed">{diff.why ?? 'No changes against the target branch.'}</EmptyState>
        <NoteList notes={otherNotes} />
      </div>
    );
  }
  const seenCount = paths.filter((path) => seenPaths.has(path)).length;
  return (
    <>
      <div className={css.chips}>
        <ul className={css.files} aria-label="Files">
          {diff.files.map((file) => (
            <li key={file.path}>
              <button
                type="button"
                className={css.chip}
                aria-pressed={seenPaths.has(file.path)}
                title={seenPaths.has(file.path) ? 'Marked as seen; click to unmark' : 'Mark as seen'}
                onClick={() => toggle(file.path)}
              >
                {seenPaths.has(file.path) && <Check size={12} aria-hidden="true" />}
                <span>{file.path}</span>
                {file.added > 0 && <span className="plus">+{file.added}</span>}
                {file.removed > 0 && <span className="minus">−{file.removed}</span>}
              </button>
            </li>
          ))}
        </ul>
        <span className="tiny dim">
          {seenCount} of {pluralize(paths.length, 'file')} seen
        </span>
      </div>
      {diff.truncated && <p className={css.warning}>The diff is too long to be shown completely. See the branch for the rest.</p>}
      <div className={css.diff}>
        <Diff
          patch={diff.patch}
          view={view}
          files={diff.files}
          seen={seenPaths}
          onSeen={toggle}
          notes={(path) => (notes.has(path) ? <NoteList notes={notes.get(path) ?? []} /> : null)}
        />
      </div>
      {otherNotes.length > 0 && (
        <details className={css.rest} open>
          <summary>{pluralize(otherNotes.length, "reviewer's note", "reviewers' notes")}</summary>
          <NoteList notes={otherNotes} />
        </details>
      )}
    </>
  );
}

export function Changes({ agent, commit, view, reviews }: Props) {
  const { data, error, refetch } = useDiff(agent, commit);
  const isNarrow = useIsNarrow();
  const work = useMemo(() => (data === undefined ? undefined : removeFeedbackFile(data)), [data]);
  if (agent === null) {
    return <EmptyState title="No agent on record">The task has no agent on record, so there is no branch to compare.</EmptyState>;
  }
  if (work !== undefined) return <LoadedChanges diff={work} view={isNarrow ? 'unified' : view} reviews={reviews} />;
  if (error !== null) return <Problem error={error} title="The changes could not be read" onRetry={() => void refetch()} />;
  return <Skeleton rows={14} height={22} />;
}
