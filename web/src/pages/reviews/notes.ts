// Assignment of reviewers' notes to files.
import type { AgentDiff, ReviewView } from '../../api/types';

/**
 * File that delivers feedback to a coder. It is not part of the work; the page shows its content as
 * notes.
 */
const FEEDBACK_FILE = 'REVIEW_FEEDBACK.md';

/** Removes the feedback file from a diff. */
export function removeFeedbackFile(diff: AgentDiff): AgentDiff {
  const parts = diff.patch.split(/^(?=diff --git )/m);
  const patch = parts.filter((part) => !part.startsWith(`diff --git a/${FEEDBACK_FILE} b/${FEEDBACK_FILE}\n`)).join('');
  return { ...diff, patch, files: diff.files.filter((file) => file.path !== FEEDBACK_FILE) };
}

export interface ReviewNote {
  readonly review: ReviewView;
  readonly text: string;
}

/** True if a text names a file by its path, or by its name if that is unique. */
function namesFile(text: string, path: string, files: readonly string[]): boolean {
  const hasWord = (name: string) => {
    const at = text.indexOf(name);
    if (at < 0) return false;
    const around = (text[at - 1] ?? ' ') + (text[at + name.length] ?? ' ');
    return !/[\w/-]/.test(around);
  };
  if (hasWord(path)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isUnique = files.filter((file) => file.endsWith(`/${name}`) || file === name).length === 1;
  return isUnique && name.includes('.') && hasWord(name);
}

/** Groups notes by file, newest first. A note that names no file or several has the empty key. */
export function groupNotes(reviews: readonly ReviewView[], files: readonly string[]): ReadonlyMap<string, readonly ReviewNote[]> {
  const notes = new Map<string, ReviewNote[]>();
  const addNote = (review: ReviewView, text: string) => {
    const named = files.filter((file) => namesFile(text, file, files));
    const [only] = named;
    const key = named.length === 1 && only !== undefined ? only : '';
    notes.set(key, [...(notes.get(key) ?? []), { review, text }]);
  };
  for (const review of reviews.toReversed()) {
    if (review.feedback == null) continue;
    addNote(review, review.feedback.body);
    for (const item of review.feedback.items) addNote(review, item);
  }
  return notes;
}

/** Describes the outcome of a review. */
export function describeVerdict(review: ReviewView): string {
  switch (review.state) {
    case 'open':
      return 'is reviewing';
    case 'approved':
      return 'approved';
    case 'feedback':
      return { needs_work: 'requested changes', suggestions: 'made suggestions', clarification: 'asked questions', approved: 'approved' }[review.feedback?.type ?? 'suggestions'];
    case 'silent':
      return 'ended without feedback';
    case 'timed_out':
      return 'timed out';
    case 'undone':
      return 'could not start';
  }
}
