// A patch as rows of one grid, of which only those in view are drawn.
import { diffWordsWithSpace } from 'diff';
import { coloured, languageOf, type Piece } from '../colours';
import { parsePatch, type Hunk, type PatchFile, type PatchLine } from './parse';

export type View = 'split' | 'unified';

/** A file that is known to differ, though the patch may not reach it. */
export interface KnownFile {
  readonly path: string;
  readonly oldPath?: string | null;
  readonly status: string;
  readonly added: number;
  readonly removed: number;
  readonly binary: boolean;
}

/** A file as it is shown. */
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

/** Files with more lines than this are folded at first. */
export const MANY_LINES = 1500;
/** A line longer than this is not compared word by word. */
const LONG_LINE = 2000;

/** The files of a patch, and those that it does not reach. */
export function shownFiles(patch: string, known: readonly KnownFile[] = []): readonly ShownFile[] {
  const files = parsePatch(patch);
  const shown = files.map((file): ShownFile => ({ ...file, patch: file }));
  const there = new Set(files.map((file) => file.path));
  const rest = known.filter((file) => !there.has(file.path));
  return [...shown, ...rest.map((file): ShownFile => ({ ...file, oldPath: file.oldPath ?? null, patch: null }))];
}

/** What stands in the place of lines, where there are none to show. */
function word(file: ShownFile): string | null {
  if (file.patch === null) return 'Too large to show.';
  if (file.binary) return 'Binary file.';
  if (file.patch.hunks.length > 0) return null;
  if (file.patch.mode !== null) return `Only its ${file.patch.mode}.`;
  if (file.status === 'renamed' || file.status === 'copied') return `Only its name: ${file.oldPath ?? ''} → ${file.path}.`;
  return file.status === 'added' ? 'New empty file.' : file.status === 'deleted' ? 'Deleted empty file.' : 'No line changed.';
}

/** Lines that stand for each other: those that are gone, and what came in their place. */
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

/** Every row there is. */
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

/** A piece of a line: its colour as code, and whether it is what differs. */
export interface MarkedPiece extends Piece {
  readonly marked: boolean;
}

const COLOURS = new WeakMap<Hunk, { readonly before: Map<PatchLine, readonly Piece[]>; readonly after: Map<PatchLine, readonly Piece[]> }>();

/** The colours of a hunk. Both sides are read as a whole each, since remarks and texts may go over several lines. */
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

/** From where to where a line differs from the one it stands for; nothing where they have little in common. */
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

/** A line in pieces: coloured as code, cut where it differs. */
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
