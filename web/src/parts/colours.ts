// Colours of code: which piece of a line is a word of the language, a text, a remark. Small languages, loaded with the pages that
// show code; what is in no language that we know stays plain.
import { SugarHigh, tokenize, type ParseOptions } from 'sugar-high/core';
import * as go from 'sugar-high/lang/go';
import * as json from 'sugar-high/lang/json';
import * as python from 'sugar-high/lang/python';
import * as rust from 'sugar-high/lang/rust';
import * as shell from 'sugar-high/lang/shell';
import * as toml from 'sugar-high/lang/toml';
import * as typescript from 'sugar-high/lang/typescript';
import * as yaml from 'sugar-high/lang/yaml';

/** A piece of a line, with the colour it has: `keyword`, `string`, `class`, `property`, `comment`, or none. */
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
/** More than this is not worth the time it takes. */
const MOST = 200_000;

/** The language of a file's name or of a fence's word, if it is one that we know. */
export function languageOf(name: string): string | null {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return NAMES[ending] ?? null;
}

/** A text in lines, each in pieces with their colours. The text is never changed: what was given comes out again. */
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
