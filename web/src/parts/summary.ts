// What a tool call is about, in the words of its input.
import { SUMMARY_FIELDS } from '../api/agentFacts';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function pathOf(change: unknown): unknown {
  return typeof change === 'object' && change !== null ? Reflect.get(change, 'path') : undefined;
}

/** The field of an input that says most of what a call is about, else the first that is text. */
export function summaryOf(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null) return '';
  // A list of changes, as one tool has it, is about the files in it.
  if (Array.isArray(input)) return input.map(pathOf).filter(isText).join(', ');
  const named = SUMMARY_FIELDS.map((name): unknown => Reflect.get(input, name)).find(isText);
  return named ?? Object.values(input).find(isText) ?? '';
}
