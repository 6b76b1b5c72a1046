// Rows of a virtualized diff.
import { diffWordsWithSpace } from 'diff';
import { highlight, detectLanguage, type HighlightedPart } from '../highlight';
import { parsePatch, type Hunk, type PatchFile, type PatchLine } from './parse';

export type DiffView = 'split' | 'unified';

/** A changed file, whether or not the patch contains it. */
export interface ChangedFile {
  readonly path: string;
  readonly oldPath?: string | null;
  readonly status: string;
  readonly added: number;
  readonly removed: number;
  readonly binary: boolean;
}

/** A file of the diff, with its patch if that was not cut. */
export interface DiffFile extends ChangedFile {
  readonly oldPath: string | null;
  readonly patch: PatchFile | null;
}

export type DiffRow =
  | { readonly kind: 'file'; readonly file: DiffFile; readonly open: boolean }
  | { readonly kind: 'note'; readonly file: DiffFile }
  | { readonly kind: 'notice'; readonly file: DiffFile; readonly text: string }
  | { readonly kind: 'hunk'; readonly file: DiffFile; readonly head: string }
  | { readonly kind: 'line'; readonly file: DiffFile; readonly hunk: Hunk; readonly line: PatchLine; readonly other: PatchLine | null }
  | { readonly kind: 'pair'; readonly file: DiffFile; readonly hunk: Hunk; readonly left: PatchLine | null; readonly right: PatchLine | null };

/** Files with more changed lines are folded by default. */
export const MAX_OPEN_LINES = 1500;
/** Longest line that is compared word by word. */
const MAX_COMPARED_LENGTH = 2000;

/** Lists the files of the patch, then the changed files that it lacks. */
export function listDiffFiles(patch: string, changed: readonly ChangedFile[] = []): readonly DiffFile[] {
  const files = parsePatch(patch);
  const shown = files.map((file): DiffFile => ({ ...file, patch: file }));
  const inPatch = new Set(files.map((file) => file.path));
  const rest = changed.filter((file) => !inPatch.has(file.path));
  return [...shown, ...rest.map((file): DiffFile => ({ ...file, oldPath: file.oldPath ?? null, patch: null }))];
}

/** Explains the missing lines of a file; null if it has lines. */
function describeMissingLines(file: DiffFile): string | null {
  if (file.patch === null) return 'Too large to show.';
  if (file.binary) return 'Binary file.';
  if (file.patch.hunks.length > 0) return null;
  if (file.patch.modeChange !== null) return `File mode changed: ${file.patch.modeChange}.`;
  if (file.status === 'renamed' || file.status === 'copied') return `Renamed without changes: ${file.oldPath ?? ''} → ${file.path}.`;
  return file.status === 'added' ? 'New empty file.' : file.status === 'deleted' ? 'Deleted empty file.' : 'No line changed.';
}

/** Groups removed lines with the added lines that replace them. */
function groupChanges(lines: readonly PatchLine[]): readonly { removed: PatchLine[]; added: PatchLine[]; same: PatchLine | null }[] {
  const groups: { removed: PatchLine[]; added: PatchLine[]; same: PatchLine | null }[] = [];
  let current: { removed: PatchLine[]; added: PatchLine[]; same: null } | null = null;
  for (const line of lines) {
    if (line.kind === 'same') {
      current = null;
      groups.push({ removed: [], added: [], same: line });
      continue;
    }
    if (current === null || (line.kind === 'removed' && current.added.length > 0)) {
      current = { removed: [], added: [], same: null };
      groups.push(current);
    }
    current[line.kind].push(line);
  }
  return groups;
}

function buildHunkRows(file: DiffFile, hunk: Hunk, view: DiffView): DiffRow[] {
  const rows: DiffRow[] = [{ kind: 'hunk', file, head: hunk.header }];
  for (const { removed, added, same } of groupChanges(hunk.lines)) {
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
export function buildDiffRows(files: readonly DiffFile[], view: DiffView, isOpen: (file: DiffFile) => boolean, hasNote: (path: string) => boolean = () => false): readonly DiffRow[] {
  return files.flatMap((file): DiffRow[] => {
    const open = isOpen(file);
    const rows: DiffRow[] = [{ kind: 'file', file, open }];
    if (!open) return rows;
    if (hasNote(file.path)) rows.push({ kind: 'note', file });
    const explanation = describeMissingLines(file);
    if (explanation !== null) rows.push({ kind: 'notice', file, text: explanation });
    for (const hunk of file.patch?.hunks ?? []) rows.push(...buildHunkRows(file, hunk, view));
    if (file.patch?.lacksFinalNewline === true) rows.push({ kind: 'notice', file, text: 'No newline at the end of the file.' });
    return rows;
  });
}

/** A highlighted part of a line; `isChanged` marks a difference. */
export interface ChangedPart extends HighlightedPart {
  readonly isChanged: boolean;
}

const HIGHLIGHTED_HUNKS = new WeakMap<Hunk, { readonly before: Map<PatchLine, readonly HighlightedPart[]>; readonly after: Map<PatchLine, readonly HighlightedPart[]> }>();

/** Highlights both sides of a hunk as a whole, because comments and strings may span lines. */
function highlightHunk(hunk: Hunk, path: string) {
  const cached = HIGHLIGHTED_HUNKS.get(hunk);
  if (cached !== undefined) return cached;
  const highlightSide = (lines: readonly PatchLine[]) => {
    const pieces = highlight(lines.map((line) => line.text).join('\n'), detectLanguage(path));
    return new Map(lines.map((line, at) => [line, pieces[at] ?? []]));
  };
  const sides = {
    before: highlightSide(hunk.lines.filter((line) => line.kind !== 'added')),
    after: highlightSide(hunk.lines.filter((line) => line.kind !== 'removed')),
  };
  HIGHLIGHTED_HUNKS.set(hunk, sides);
  return sides;
}

/** Finds the changed ranges of a line; none if the two lines have little in common. */
export function findDifferences(line: PatchLine, other: PatchLine | null): readonly (readonly [number, number])[] {
  if (other === null || line.text.length > MAX_COMPARED_LENGTH || other.text.length > MAX_COMPARED_LENGTH) return [];
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
export function splitLine(row: { readonly file: DiffFile; readonly hunk: Hunk }, line: PatchLine, other: PatchLine | null): readonly ChangedPart[] {
  const sides = highlightHunk(row.hunk, row.file.path);
  const highlighted = (line.kind === 'removed' ? sides.before : sides.after).get(line) ?? [{ text: line.text, colour: null }];
  const spans = line.kind === 'same' ? [] : findDifferences(line, other);
  if (spans.length === 0) return highlighted.map((part) => ({ ...part, isChanged: false }));
  const cuts = spans.flat();
  const parts: ChangedPart[] = [];
  let at = 0;
  for (const part of highlighted) {
    const inner = cuts.filter((cut) => cut > at && cut < at + part.text.length).map((cut) => cut - at);
    let from = 0;
    for (const to of [...inner, part.text.length]) {
      const [begins, ends] = [at + from, at + to];
      if (to > from) parts.push({ text: part.text.slice(from, to), colour: part.colour, isChanged: spans.some(([a, b]) => begins >= a && ends <= b) });
      from = to;
    }
    at += part.text.length;
  }
  return parts;
}
