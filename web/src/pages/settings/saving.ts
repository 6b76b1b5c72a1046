// State of the save button and of unsaved edits.
import type { EditCheck } from './queries';
import type { RoleDraft } from './RolesPart';
import type { KeyDraft } from './values';

export interface SaveStatus {
  readonly canSave: boolean;
  readonly reason: string;
}

/** Unsaved edits. */
export interface UnsavedForm {
  readonly draft: KeyDraft;
  readonly role: RoleDraft | null;
}

/** Drops the saved part of a form; keeps text typed since. */
export function dropSaved(now: UnsavedForm, saved: UnsavedForm, isRole: boolean): UnsavedForm {
  if (isRole) {
    const isSame = now.role !== null && now.role.name === saved.role?.name && now.role.text === saved.role.text;
    return isSame ? { ...now, role: null } : now;
  }
  return { ...now, draft: new Map([...now.draft].filter(([key, text]) => saved.draft.get(key) !== text)) };
}

interface FormStatus {
  /** Number of changed keys, or 1 for a changed role. */
  readonly changeCount: number;
  /** Invalid input that cannot be checked, by key. */
  readonly errors: ReadonlyMap<string, string>;
  readonly isSaving: boolean;
}

/** Decides whether the form can be saved. The reason beside the button says what to do. */
export function getSaveStatus(form: FormStatus, { checked, isStale, error }: EditCheck): SaveStatus {
  const refuse = (reason: string): SaveStatus => ({ canSave: false, reason });
  if (form.isSaving) return refuse('Saving…');
  const [first] = form.errors;
  if (first !== undefined) return refuse(`${first[0]}: ${first[1]}`);
  if (form.changeCount === 0) return refuse('There are no changes.');
  if (error !== null) return refuse('The check failed.');
  if (checked === null || isStale) return refuse('Checking…');
  const problem = checked.problems[0];
  if (!checked.ok) {
    const where = problem?.key ?? (problem?.line == null ? '' : `line ${problem.line}`);
    return refuse(`${where}${where === '' ? '' : ': '}${problem?.message ?? 'The check failed.'}`);
  }
  if (checked.diff === '') return refuse('The file already has this value.');
  return { canSave: true, reason: 'The check passed.' };
}
