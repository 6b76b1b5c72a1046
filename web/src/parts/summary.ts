// One-line summary of a tool call's input.
import { SUMMARY_FIELDS } from '../api/agentFacts';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function pathOf(change: unknown): unknown {
  return typeof change === 'object' && change !== null ? Reflect.get(change, 'path') : undefined;
}

/** Returns the most telling field of an input, otherwise its first string. */
export function summaryOf(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null) return '';
  // A list of file changes is summarized by its paths.
  if (Array.isArray(input)) return input.map(pathOf).filter(isText).join(', ');
  const named = SUMMARY_FIELDS.map((name): unknown => Reflect.get(input, name)).find(isText);
  return named ?? Object.values(input).find(isText) ?? '';
}
