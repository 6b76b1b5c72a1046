// Conversion between configuration values and the text of their controls.
import type { KeyChange, KeyView } from '../../api/types';

export type Kind = 'switch' | 'choice' | 'number' | 'list' | 'text' | 'json';

const isWords = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Keys whose lists contain objects, even while they are empty. */
const OF_THINGS: readonly string[] = ['webhooks', 'routing.rules', 'context.files'];

/** Chooses the control of a key by its value and its default. */
export function kindOf(key: KeyView): Kind {
  const [value, otherwise] = [key.value, key.default];
  const either = (is: (one: unknown) => boolean) => is(value) || (value === null && is(otherwise));
  if (key.choices.length > 0) return 'choice';
  if (either((one) => typeof one === 'boolean')) return 'switch';
  if (either((one) => typeof one === 'number')) return 'number';
  if (either((one) => isWords(one) && one.length > 0)) return 'list';
  if (Array.isArray(value) && value.length === 0) return OF_THINGS.includes(key.key) ? 'json' : 'list';
  if (either((one) => typeof one === 'object' && one !== null)) return 'json';
  return 'text';
}

/** Formats a value for its control. */
export function textOf(value: unknown, kind: Kind): string {
  if (value === null || value === undefined) return '';
  if (kind === 'list' && isWords(value)) return value.join('\n');
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return JSON.stringify(value, null, 2);
  return String(value);
}

export type Read = { readonly value: unknown } | { readonly error: string };

/** Parses the text of a control. The server validates the value. */
export function read(text: string, kind: Kind): Read {
  const bare = text.trim();
  switch (kind) {
    case 'switch':
      return { value: bare === 'true' };
    case 'choice':
      return { value: bare };
    case 'number':
      return numberOf(bare);
    case 'list':
      return { value: text.split('\n').map((line) => line.trim()).filter((line) => line !== '') };
    case 'json':
      return jsonOf(bare);
    case 'text':
      // Without a known type, a bare number is a number, and brackets are a list or an object.
      if (bare === '') return { value: null };
      if (/^-?\d+(\.\d+)?$/.test(bare)) return { value: Number(bare) };
      return /^[[{]/.test(bare) && 'value' in jsonOf(bare) ? jsonOf(bare) : { value: bare };
  }
}

function numberOf(text: string): Read {
  if (text === '') return { value: null };
  const number = Number(text.replaceAll(/[\s_,]/g, ''));
  return Number.isFinite(number) ? { value: number } : { error: 'This is not a number.' };
}

function jsonOf(text: string): Read {
  if (text === '') return { value: null };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { error: 'This is not JSON: names and strings need double quotes.' };
  }
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Text typed into a key's control; null resets the key to its default. */
export type Typed = string | null;
export type Draft = ReadonlyMap<string, Typed>;

/** Sets a key's text in the draft; removes it if the value equals the file's. */
export function typed(draft: Draft, key: KeyView, text: Typed): Draft {
  const next = new Map(draft);
  const kind = kindOf(key);
  // A string keeps its spelling if the file has a string.
  const meant = text === null ? null : readAs(key, text);
  const unchanged = text === null ? !key.isSet : meant !== null && 'value' in meant && same(meant.value, key.value);
  if (unchanged || (text !== null && text === textOf(key.value, kind))) next.delete(key.key);
  else next.set(key.key, text);
  return next;
}

/** Parses the text for a key: a string if the file or the default has a string. */
export function readAs(key: KeyView, text: string): Read {
  const isText = typeof key.value === 'string' || (key.value === null && typeof key.default === 'string');
  if (isText && kindOf(key) === 'text' && text.trim() !== '') return { value: text.trim() };
  return read(text, kindOf(key));
}

export interface Wish {
  readonly changes: readonly KeyChange[];
  /** Invalid input that cannot be checked, by key. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Converts a draft to a list of changes. */
export function wishOf(draft: Draft, keys: readonly KeyView[]): Wish {
  const changes: KeyChange[] = [];
  const errors = new Map<string, string>();
  for (const key of keys) {
    const text = draft.get(key.key);
    if (text === undefined) continue;
    if (text === null) {
      changes.push({ key: key.key });
      continue;
    }
    const meant = readAs(key, text);
    if ('error' in meant) errors.set(key.key, meant.error);
    else changes.push({ key: key.key, value: meant.value });
  }
  return { changes, errors };
}
