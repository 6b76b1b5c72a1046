// Assignment of reviewers' notes to files.
import type { AgentDiff, Review } from '../../api/types';

/**
 * File that delivers feedback to a coder. It is not part of the work; the page shows its content as
 * notes.
 */
const FEEDBACK = 'REVIEW_FEEDBACK.md';

/** Removes the feedback file from a diff. */
export function withoutFeedback(diff: AgentDiff): AgentDiff {
  const parts = diff.patch.split(/^(?=diff --git )/m);
  const patch = parts.filter((part) => !part.startsWith(`diff --git a/${FEEDBACK} b/${FEEDBACK}\n`)).join('');
  return { ...diff, patch, files: diff.files.filter((file) => file.path !== FEEDBACK) };
}

export interface Note {
  readonly review: Review;
  readonly text: string;
}

/** True if a text names a file by its path, or by its name if that is unique. */
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

/** Groups notes by file, newest first. A note that names no file or several has the empty key. */
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

/** Describes the outcome of a review. */
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
