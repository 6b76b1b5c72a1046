// One-line summary of a tool call's input.
import { SUMMARY_FIELDS } from '../api/agentFacts';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function readPath(change: unknown): unknown {
  return typeof change === 'object' && change !== null ? Reflect.get(change, 'path') : undefined;
}

/** Returns the most telling field of an input, otherwise its first string. */
export function summarizeInput(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null) return '';
  // A list of file changes is summarized by its paths.
  if (Array.isArray(input)) return input.map(readPath).filter(isText).join(', ');
  const known = SUMMARY_FIELDS.map((name): unknown => Reflect.get(input, name)).find(isText);
  return known ?? Object.values(input).find(isText) ?? '';
}
