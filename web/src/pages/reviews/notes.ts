// What reviewers said, put under the files they speak of.
import type { AgentDiff, Review } from '../../api/types';

/** The file by which feedback comes to a coder. It is no part of the work: what it says stands here as notes. */
const FEEDBACK = 'REVIEW_FEEDBACK.md';

/** What changed, without the feedback that reviewers left on the branch. */
export function withoutFeedback(diff: AgentDiff): AgentDiff {
  const parts = diff.patch.split(/^(?=diff --git )/m);
  const patch = parts.filter((part) => !part.startsWith(`diff --git a/${FEEDBACK} b/${FEEDBACK}\n`)).join('');
  return { ...diff, patch, files: diff.files.filter((file) => file.path !== FEEDBACK) };
}

export interface Note {
  readonly review: Review;
  readonly text: string;
}

/** Whether a text names a file: its whole path, or its name where no other file has the same. */
function names(text: string, path: string, files: readonly string[]): boolean {
  const word = (name: string) => {
    const at = text.indexOf(name);
    if (at < 0) return false;
    const around = (text[at - 1] ?? ' ') + (text[at + name.length] ?? ' ');
    return !/[\w/-]/.test(around);
  };
  if (word(path)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const alone = files.filter((file) => file.endsWith(`/${name}`) || file === name).length === 1;
  return alone && name.includes('.') && word(name);
}

/** Notes by file, the newest first; what names no file, or several, is told at the end, under the empty name. */
export function notesOf(reviews: readonly Review[], files: readonly string[]): ReadonlyMap<string, readonly Note[]> {
  const notes = new Map<string, Note[]>();
  const put = (review: Review, text: string) => {
    const named = files.filter((file) => names(text, file, files));
    const [only] = named;
    const key = named.length === 1 && only !== undefined ? only : '';
    notes.set(key, [...(notes.get(key) ?? []), { review, text }]);
  };
  for (const review of reviews.toReversed()) {
    if (review.feedback == null) continue;
    put(review, review.feedback.body);
    for (const item of review.feedback.items) put(review, item);
  }
  return notes;
}

/** What a review came to, in words. */
export function verdictOf(review: Review): string {
  switch (review.state) {
    case 'open':
      return 'looks at it';
    case 'approved':
      return 'approves';
    case 'feedback':
      return { needs_work: 'wants changes', suggestions: 'has suggestions', clarification: 'has questions', approved: 'approves' }[review.feedback?.type ?? 'suggestions'];
    case 'silent':
      return 'ended without a word';
    case 'timed_out':
      return 'took too long';
    case 'undone':
      return 'was not done';
  }
}
