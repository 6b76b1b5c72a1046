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
export function buildRunRequest(form: StartForm, resume: string | null): Record<string, unknown> {
  const optionalText = (value: string) => (value.trim() === '' ? undefined : value.trim());
  const minutes = parsePositiveNumber(form.minutes, 'minutes', 'a time limit');
  const usd = parsePositiveNumber(form.usd, 'usd', 'a budget');
  return {
    prompt: form.prompt,
    ...(resume === null ? { role: optionalText(form.role), task: optionalText(form.task) } : { resume }),
    model: optionalText(form.model),
    timeout: minutes === undefined ? undefined : Math.max(1, Math.round(minutes * 60)),
    ...(usd === undefined ? {} : { budget: { usd } }),
  };
}

function parsePositiveNumber(value: string, field: string, quantity: string): number | undefined {
  const trimmed = value.trim().replace(/^\$/, '');
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  if (Number.isFinite(number) && number > 0) return number;
  throw new ApiError('INVALID_INPUT', `“${value.trim()}” is not ${quantity}: write a number above 0.`, 0, [], { field });
}

const FORM_FIELD_BY_SERVER_FIELD: Readonly<Record<string, keyof StartForm>> = {
  role: 'role', kind: 'role', prompt: 'prompt', task: 'task', model: 'model', timeout: 'minutes', minutes: 'minutes', usd: 'usd', budget: 'usd', 'budget.usd': 'usd',
};

/** Finds the form field that an error concerns. */
export function findFormField(error: unknown): keyof StartForm | null {
  const field = error instanceof ApiError ? error.field : null;
  return field === null ? null : (FORM_FIELD_BY_SERVER_FIELD[field] ?? null);
}

const START_FAILURE_PREFIX = 'it could not be started: ';

/** Returns the reason if an agent ended because it could not be started. */
export function parseStartFailure(state: string, reason: string | null): string | null {
  if (state !== 'failed' || reason === null || !reason.startsWith(START_FAILURE_PREFIX)) return null;
  return reason.slice(START_FAILURE_PREFIX.length);
}
