// Conversion between configuration values and the text of their controls.
import type { KeyChange, KeyView } from '../../api/types';

export type ControlKind = 'switch' | 'choice' | 'number' | 'list' | 'text' | 'json';

const isStringList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Keys whose lists contain objects, even while they are empty. */
const OBJECT_LIST_KEYS: readonly string[] = ['webhooks', 'routing.rules', 'context.files'];

/** Chooses the control of a key by its value and its default. */
export function chooseControl(key: KeyView): ControlKind {
  const [value, otherwise] = [key.value, key.default];
  const matches = (is: (one: unknown) => boolean) => is(value) || (value === null && is(otherwise));
  if (key.choices.length > 0) return 'choice';
  if (matches((one) => typeof one === 'boolean')) return 'switch';
  if (matches((one) => typeof one === 'number')) return 'number';
  if (matches((one) => isStringList(one) && one.length > 0)) return 'list';
  if (Array.isArray(value) && value.length === 0) return OBJECT_LIST_KEYS.includes(key.key) ? 'json' : 'list';
  if (matches((one) => typeof one === 'object' && one !== null)) return 'json';
  return 'text';
}

/** Formats a value for its control. */
export function formatValue(value: unknown, kind: ControlKind): string {
  if (value === null || value === undefined) return '';
  if (kind === 'list' && isStringList(value)) return value.join('\n');
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return JSON.stringify(value, null, 2);
  return String(value);
}

export type ParsedValue = { readonly value: unknown } | { readonly error: string };

/** Parses the text of a control. The server validates the value. */
export function parseText(text: string, kind: ControlKind): ParsedValue {
  const trimmed = text.trim();
  switch (kind) {
    case 'switch':
      return { value: trimmed === 'true' };
    case 'choice':
      return { value: trimmed };
    case 'number':
      return parseNumber(trimmed);
    case 'list':
      return { value: text.split('\n').map((line) => line.trim()).filter((line) => line !== '') };
    case 'json':
      return parseJson(trimmed);
    case 'text':
      // Without a known type, a bare number is a number, and brackets are a list or an object.
      if (trimmed === '') return { value: null };
      if (/^-?\d+(\.\d+)?$/.test(trimmed)) return { value: Number(trimmed) };
      return /^[[{]/.test(trimmed) && 'value' in parseJson(trimmed) ? parseJson(trimmed) : { value: trimmed };
  }
}

function parseNumber(text: string): ParsedValue {
  if (text === '') return { value: null };
  const number = Number(text.replaceAll(/[\s_,]/g, ''));
  return Number.isFinite(number) ? { value: number } : { error: 'This is not a number. Write digits, such as 12 or 1.5.' };
}

function parseJson(text: string): ParsedValue {
  if (text === '') return { value: null };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { error: 'This is not JSON: names and strings need double quotes.' };
  }
}

export function isSameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Text typed into a key's control; null resets the key to its default. */
export type TypedText = string | null;
export type KeyDraft = ReadonlyMap<string, TypedText>;

/** Sets a key's text in the draft; removes it if the value equals the file's. */
export function withTypedText(draft: KeyDraft, key: KeyView, text: TypedText): KeyDraft {
  const next = new Map(draft);
  const kind = chooseControl(key);
  // A string keeps its spelling if the file has a string.
  const parsed = text === null ? null : parseKeyText(key, text);
  const unchanged = text === null ? !key.isSet : parsed !== null && 'value' in parsed && isSameValue(parsed.value, key.value);
  if (unchanged || (text !== null && text === formatValue(key.value, kind))) next.delete(key.key);
  else next.set(key.key, text);
  return next;
}

/** Parses the text for a key: a string if the file or the default has a string. */
export function parseKeyText(key: KeyView, text: string): ParsedValue {
  const isText = typeof key.value === 'string' || (key.value === null && typeof key.default === 'string');
  if (isText && chooseControl(key) === 'text' && text.trim() !== '') return { value: text.trim() };
  return parseText(text, chooseControl(key));
}

export interface RequestedChanges {
  readonly changes: readonly KeyChange[];
  /** Invalid input that cannot be checked, by key. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Converts a draft to a list of changes. */
export function buildChanges(draft: KeyDraft, keys: readonly KeyView[]): RequestedChanges {
  const changes: KeyChange[] = [];
  const errors = new Map<string, string>();
  for (const key of keys) {
    const text = draft.get(key.key);
    if (text === undefined) continue;
    if (text === null) {
      changes.push({ key: key.key });
      continue;
    }
    const parsed = parseKeyText(key, text);
    if ('error' in parsed) errors.set(key.key, parsed.error);
    else changes.push({ key: key.key, value: parsed.value });
  }
  return { changes, errors };
}
