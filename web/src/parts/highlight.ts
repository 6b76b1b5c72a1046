// Syntax highlighting for the languages of common projects. Loaded with the pages that show code;
// other languages stay plain.
import { SugarHigh, tokenize, type ParseOptions } from 'sugar-high/core';
import * as go from 'sugar-high/lang/go';
import * as json from 'sugar-high/lang/json';
import * as python from 'sugar-high/lang/python';
import * as rust from 'sugar-high/lang/rust';
import * as shell from 'sugar-high/lang/shell';
import * as toml from 'sugar-high/lang/toml';
import * as typescript from 'sugar-high/lang/typescript';
import * as yaml from 'sugar-high/lang/yaml';

/**
 * A part of a line with its colour: `keyword`, `string`, `class`, `property`, `comment`, or null.
 */
export interface HighlightedPart {
  readonly text: string;
  readonly colour: string | null;
}

const disableScripting = (options: ParseOptions): ParseOptions => ({ ...options, jsx: false, regex: false, templateStrings: false });
const C_COMMENTS = { onCommentStart: go.onCommentStart, onCommentEnd: go.onCommentEnd };

const SYNTAX_BY_LANGUAGE: Readonly<Record<string, ParseOptions>> = {
  go: disableScripting(go),
  json: disableScripting(json),
  python: disableScripting(python),
  rust: disableScripting({ ...rust, ...C_COMMENTS }),
  shell: disableScripting(shell),
  toml: disableScripting(toml),
  typescript,
  yaml: disableScripting(yaml),
};

const LANGUAGE_BY_EXTENSION: Readonly<Record<string, string>> = {
  go: 'go', json: 'json', jsonc: 'json', jsonl: 'json', py: 'python', python: 'python', rs: 'rust', rust: 'rust',
  sh: 'shell', bash: 'shell', zsh: 'shell', shell: 'shell', console: 'shell', toml: 'toml', lock: 'toml',
  ts: 'typescript', tsx: 'typescript', js: 'typescript', jsx: 'typescript', mjs: 'typescript', cjs: 'typescript',
  typescript: 'typescript', javascript: 'typescript', yml: 'yaml', yaml: 'yaml',
};

const COLOUR_NAMES = new Set(['keyword', 'string', 'class', 'property', 'comment', 'entity']);
/** Longest text that is highlighted. */
const MAX_HIGHLIGHTED_LENGTH = 200_000;

/** Detects a language from a file name or a Markdown fence; returns null if it is unknown. */
export function detectLanguage(name: string): string | null {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return LANGUAGE_BY_EXTENSION[extension] ?? null;
}

/** Splits a text into highlighted lines. The concatenated parts equal the input. */
export function highlight(text: string, language: string | null): readonly (readonly HighlightedPart[])[] {
  const options = language === null || text.length > MAX_HIGHLIGHTED_LENGTH ? undefined : SYNTAX_BY_LANGUAGE[language];
  const lines = text.split('\n');
  if (options === undefined) return lines.map((line) => [{ text: line, colour: null }]);
  const parts: HighlightedPart[][] = [[]];
  for (const [type, value] of tokenize(text, options)) {
    const name = SugarHigh.TokenTypes[type] ?? '';
    const colour = COLOUR_NAMES.has(name) ? name : null;
    value.split('\n').forEach((part, index) => {
      if (index > 0) parts.push([]);
      if (part !== '') parts.at(-1)?.push({ text: part, colour });
    });
  }
  const isUnchanged = parts.length === lines.length && parts.every((line, at) => line.map((part) => part.text).join('') === lines[at]);
  return isUnchanged ? parts : lines.map((line) => [{ text: line, colour: null }]);
}
