// Rows of a virtualized diff.
import { diffWordsWithSpace } from 'diff';
import { coloured, languageOf, type Piece } from '../colours';
import { parsePatch, type Hunk, type PatchFile, type PatchLine } from './parse';

export type View = 'split' | 'unified';

/** A changed file, whether or not the patch contains it. */
export interface KnownFile {
  readonly path: string;
  readonly oldPath?: string | null;
  readonly status: string;
  readonly added: number;
  readonly removed: number;
  readonly binary: boolean;
}

/** A file of the diff, with its patch if that was not cut. */
export interface ShownFile extends KnownFile {
  readonly oldPath: string | null;
  readonly patch: PatchFile | null;
}

export type Row =
  | { readonly kind: 'file'; readonly file: ShownFile; readonly open: boolean }
  | { readonly kind: 'note'; readonly file: ShownFile }
  | { readonly kind: 'word'; readonly file: ShownFile; readonly text: string }
  | { readonly kind: 'hunk'; readonly file: ShownFile; readonly head: string }
  | { readonly kind: 'line'; readonly file: ShownFile; readonly hunk: Hunk; readonly line: PatchLine; readonly other: PatchLine | null }
  | { readonly kind: 'pair'; readonly file: ShownFile; readonly hunk: Hunk; readonly left: PatchLine | null; readonly right: PatchLine | null };

/** Files with more changed lines are folded by default. */
export const MANY_LINES = 1500;
/** Longest line that is compared word by word. */
const LONG_LINE = 2000;

/** Lists the files of the patch, then the changed files that it lacks. */
export function shownFiles(patch: string, known: readonly KnownFile[] = []): readonly ShownFile[] {
  const files = parsePatch(patch);
  const shown = files.map((file): ShownFile => ({ ...file, patch: file }));
  const there = new Set(files.map((file) => file.path));
  const rest = known.filter((file) => !there.has(file.path));
  return [...shown, ...rest.map((file): ShownFile => ({ ...file, oldPath: file.oldPath ?? null, patch: null }))];
}

/** Explains the missing lines of a file; null if it has lines. */
function word(file: ShownFile): string | null {
  if (file.patch === null) return 'Too large to show.';
  if (file.binary) return 'Binary file.';
  if (file.patch.hunks.length > 0) return null;
  if (file.patch.mode !== null) return `Only its ${file.patch.mode}.`;
  if (file.status === 'renamed' || file.status === 'copied') return `Only its name: ${file.oldPath ?? ''} → ${file.path}.`;
  return file.status === 'added' ? 'New empty file.' : file.status === 'deleted' ? 'Deleted empty file.' : 'No line changed.';
}

/** Groups removed lines with the added lines that replace them. */
function blocks(lines: readonly PatchLine[]): readonly { removed: PatchLine[]; added: PatchLine[]; same: PatchLine | null }[] {
  const found: { removed: PatchLine[]; added: PatchLine[]; same: PatchLine | null }[] = [];
  let open: { removed: PatchLine[]; added: PatchLine[]; same: null } | null = null;
  for (const line of lines) {
    if (line.kind === 'same') {
      open = null;
      found.push({ removed: [], added: [], same: line });
      continue;
    }
    if (open === null || (line.kind === 'removed' && open.added.length > 0)) {
      open = { removed: [], added: [], same: null };
      found.push(open);
    }
    open[line.kind].push(line);
  }
  return found;
}

function hunkRows(file: ShownFile, hunk: Hunk, view: View): Row[] {
  const rows: Row[] = [{ kind: 'hunk', file, head: hunk.head }];
  for (const { removed, added, same } of blocks(hunk.lines)) {
    if (same !== null) {
      rows.push(view === 'unified' ? { kind: 'line', file, hunk, line: same, other: null } : { kind: 'pair', file, hunk, left: same, right: same });
    } else if (view === 'unified') {
      for (const [at, line] of removed.entries()) rows.push({ kind: 'line', file, hunk, line, other: added[at] ?? null });
      for (const [at, line] of added.entries()) rows.push({ kind: 'line', file, hunk, line, other: removed[at] ?? null });
    } else {
      for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
        rows.push({ kind: 'pair', file, hunk, left: removed[at] ?? null, right: added[at] ?? null });
      }
    }
  }
  return rows;
}

/** Lists all rows of the diff. */
export function rowsOf(files: readonly ShownFile[], view: View, isOpen: (file: ShownFile) => boolean, hasNote: (path: string) => boolean = () => false): readonly Row[] {
  return files.flatMap((file): Row[] => {
    const open = isOpen(file);
    const rows: Row[] = [{ kind: 'file', file, open }];
    if (!open) return rows;
    if (hasNote(file.path)) rows.push({ kind: 'note', file });
    const said = word(file);
    if (said !== null) rows.push({ kind: 'word', file, text: said });
    for (const hunk of file.patch?.hunks ?? []) rows.push(...hunkRows(file, hunk, view));
    if (file.patch?.noEnd === true) rows.push({ kind: 'word', file, text: 'No newline at the end of the file.' });
    return rows;
  });
}

/** A highlighted part of a line; `isChanged` marks a difference. */
export interface MarkedPiece extends Piece {
  readonly marked: boolean;
}

const COLOURS = new WeakMap<Hunk, { readonly before: Map<PatchLine, readonly Piece[]>; readonly after: Map<PatchLine, readonly Piece[]> }>();

/** Highlights both sides of a hunk as a whole, because comments and strings may span lines. */
function coloursOf(hunk: Hunk, path: string) {
  const known = COLOURS.get(hunk);
  if (known !== undefined) return known;
  const side = (lines: readonly PatchLine[]) => {
    const pieces = coloured(lines.map((line) => line.text).join('\n'), languageOf(path));
    return new Map(lines.map((line, at) => [line, pieces[at] ?? []]));
  };
  const made = {
    before: side(hunk.lines.filter((line) => line.kind !== 'added')),
    after: side(hunk.lines.filter((line) => line.kind !== 'removed')),
  };
  COLOURS.set(hunk, made);
  return made;
}

/** Finds the changed ranges of a line; none if the two lines have little in common. */
export function differing(line: PatchLine, other: PatchLine | null): readonly (readonly [number, number])[] {
  if (other === null || line.text.length > LONG_LINE || other.text.length > LONG_LINE) return [];
  const [before, after] = line.kind === 'removed' ? [line, other] : [other, line];
  const parts = diffWordsWithSpace(before.text, after.text);
  const shared = parts.filter((part) => !part.added && !part.removed).reduce((sum, part) => sum + part.value.trim().length, 0);
  if (shared * 3 < Math.min(before.text.trim().length, after.text.trim().length)) return [];
  const spans: [number, number][] = [];
  let at = 0;
  for (const part of parts) {
    if (line.kind === 'removed' ? part.added : part.removed) continue;
    if (part.added || part.removed) spans.push([at, at + part.value.length]);
    at += part.value.length;
  }
  return spans;
}

/** Splits a line into highlighted parts, cut at its differences. */
export function piecesOf(row: { readonly file: ShownFile; readonly hunk: Hunk }, line: PatchLine, other: PatchLine | null): readonly MarkedPiece[] {
  const sides = coloursOf(row.hunk, row.file.path);
  const pieces = (line.kind === 'removed' ? sides.before : sides.after).get(line) ?? [{ text: line.text, colour: null }];
  const spans = line.kind === 'same' ? [] : differing(line, other);
  if (spans.length === 0) return pieces.map((piece) => ({ ...piece, marked: false }));
  const cuts = spans.flat();
  const found: MarkedPiece[] = [];
  let at = 0;
  for (const piece of pieces) {
    const inner = cuts.filter((cut) => cut > at && cut < at + piece.text.length).map((cut) => cut - at);
    let from = 0;
    for (const to of [...inner, piece.text.length]) {
      const [begins, ends] = [at + from, at + to];
      if (to > from) found.push({ text: piece.text.slice(from, to), colour: piece.colour, marked: spans.some(([a, b]) => begins >= a && ends <= b) });
      from = to;
    }
    at += piece.text.length;
  }
  return found;
}
