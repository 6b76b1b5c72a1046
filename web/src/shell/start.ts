// Conversion of the form that starts an agent.
import { ApiError } from '../api/client';

export interface StartForm {
  readonly role: string;
  readonly prompt: string;
  readonly task: string;
  readonly model: string;
  readonly minutes: string;
  readonly usd: string;
}

/**
 * Builds the body of `POST /api/runs`. Omits empty fields, which the role and the configuration
 * decide; rejects invalid numbers.
 */
export function runOf(form: StartForm, resume: string | null): Record<string, unknown> {
  const text = (value: string) => (value.trim() === '' ? undefined : value.trim());
  const minutes = numberOf(form.minutes, 'minutes', 'a time limit');
  const usd = numberOf(form.usd, 'usd', 'a budget');
  return {
    prompt: form.prompt,
    ...(resume === null ? { role: text(form.role), task: text(form.task) } : { resume }),
    model: text(form.model),
    timeout: minutes === undefined ? undefined : Math.max(1, Math.round(minutes * 60)),
    ...(usd === undefined ? {} : { budget: { usd } }),
  };
}

function numberOf(value: string, field: string, what: string): number | undefined {
  const trimmed = value.trim().replace(/^\$/, '');
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  if (Number.isFinite(number) && number > 0) return number;
  throw new ApiError('INVALID_INPUT', `“${value.trim()}” is not ${what}: write a number above 0.`, 0, [], { field });
}

const FIELDS: Readonly<Record<string, keyof StartForm>> = {
  role: 'role', kind: 'role', prompt: 'prompt', task: 'task', model: 'model', timeout: 'minutes', minutes: 'minutes', usd: 'usd', budget: 'usd', 'budget.usd': 'usd',
};

/** Finds the form field that an error concerns. */
export function fieldOf(error: unknown): keyof StartForm | null {
  const field = error instanceof ApiError ? error.field : null;
  return field === null ? null : (FIELDS[field] ?? null);
}

const NEVER = 'it could not be started: ';

/** Returns the reason if an agent ended because it could not be started. */
export function unstarted(state: string, reason: string | null): string | null {
  if (state !== 'failed' || reason === null || !reason.startsWith(NEVER)) return null;
  return reason.slice(NEVER.length);
}
