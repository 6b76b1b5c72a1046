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
export interface Piece {
  readonly text: string;
  readonly colour: string | null;
}

const plain = (options: ParseOptions): ParseOptions => ({ ...options, jsx: false, regex: false, templateStrings: false });
const likeC = { onCommentStart: go.onCommentStart, onCommentEnd: go.onCommentEnd };

const LANGUAGES: Readonly<Record<string, ParseOptions>> = {
  go: plain(go),
  json: plain(json),
  python: plain(python),
  rust: plain({ ...rust, ...likeC }),
  shell: plain(shell),
  toml: plain(toml),
  typescript,
  yaml: plain(yaml),
};

const NAMES: Readonly<Record<string, string>> = {
  go: 'go', json: 'json', jsonc: 'json', jsonl: 'json', py: 'python', python: 'python', rs: 'rust', rust: 'rust',
  sh: 'shell', bash: 'shell', zsh: 'shell', shell: 'shell', console: 'shell', toml: 'toml', lock: 'toml',
  ts: 'typescript', tsx: 'typescript', js: 'typescript', jsx: 'typescript', mjs: 'typescript', cjs: 'typescript',
  typescript: 'typescript', javascript: 'typescript', yml: 'yaml', yaml: 'yaml',
};

const COLOURS = new Set(['keyword', 'string', 'class', 'property', 'comment', 'entity']);
/** Longest text that is highlighted. */
const MOST = 200_000;

/** Detects a language from a file name or a Markdown fence; returns null if it is unknown. */
export function languageOf(name: string): string | null {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return NAMES[ending] ?? null;
}

/** Splits a text into highlighted lines. The concatenated parts equal the input. */
export function coloured(text: string, language: string | null): readonly (readonly Piece[])[] {
  const options = language === null || text.length > MOST ? undefined : LANGUAGES[language];
  const lines = text.split('\n');
  if (options === undefined) return lines.map((line) => [{ text: line, colour: null }]);
  const pieces: Piece[][] = [[]];
  for (const [type, value] of tokenize(text, options)) {
    const name = SugarHigh.TokenTypes[type] ?? '';
    const colour = COLOURS.has(name) ? name : null;
    value.split('\n').forEach((part, index) => {
      if (index > 0) pieces.push([]);
      if (part !== '') pieces.at(-1)?.push({ text: part, colour });
    });
  }
  const same = pieces.length === lines.length && pieces.every((line, at) => line.map((piece) => piece.text).join('') === lines[at]);
  return same ? pieces : lines.map((line) => [{ text: line, colour: null }]);
}
