// State of the save button and of unsaved edits.
import type { Check } from './queries';
import type { RoleDraft } from './RolesPart';
import type { Draft } from './values';

export interface Standing {
  readonly can: boolean;
  readonly reason: string;
}

/** Unsaved edits. */
export interface Form {
  readonly draft: Draft;
  readonly role: RoleDraft | null;
}

/** Drops the saved part of a form; keeps text typed since. */
export function leftOf(now: Form, saved: Form, isRole: boolean): Form {
  if (isRole) {
    const isSame = now.role !== null && now.role.name === saved.role?.name && now.role.text === saved.role.text;
    return isSame ? { ...now, role: null } : now;
  }
  return { ...now, draft: new Map([...now.draft].filter(([key, text]) => saved.draft.get(key) !== text)) };
}

interface Asked {
  /** Number of changed keys, or 1 for a changed role. */
  readonly changes: number;
  /** Invalid input that cannot be checked, by key. */
  readonly errors: ReadonlyMap<string, string>;
  readonly busy: boolean;
}

/** Decides whether the form can be saved. The reason beside the button says what to do. */
export function standingOf(form: Asked, { checked, stale, error }: Check): Standing {
  const no = (reason: string): Standing => ({ can: false, reason });
  if (form.busy) return no('Saving…');
  const [first] = form.errors;
  if (first !== undefined) return no(`${first[0]}: ${first[1]}`);
  if (form.changes === 0) return no('There are no changes.');
  if (error !== null) return no('The check failed.');
  if (checked === null || stale) return no('Checking…');
  const problem = checked.problems[0];
  if (!checked.ok) {
    const where = problem?.key ?? (problem?.line == null ? '' : `line ${problem.line}`);
    return no(`${where}${where === '' ? '' : ': '}${problem?.message ?? 'The check failed.'}`);
  }
  if (checked.diff === '') return no('The file already has this value.');
  return { can: true, reason: 'The check passed.' };
}
