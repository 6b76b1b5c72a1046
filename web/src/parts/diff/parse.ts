// Parser for git patches: files, hunks and lines. A cut patch is parsed as far as it goes.

export interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed';
  /** Line number before the change; null for an added line. */
  readonly oldNumber: number | null;
  /** Line number after the change; null for a removed line. */
  readonly newNumber: number | null;
  readonly text: string;
}

export interface Hunk {
  readonly header: string;
  readonly lines: readonly PatchLine[];
}

export interface PatchFile {
  readonly path: string;
  /** Previous path of a renamed or copied file. */
  readonly oldPath: string | null;
  readonly status: 'added' | 'changed' | 'deleted' | 'renamed' | 'copied';
  readonly binary: boolean;
  /** Change of the file mode: `100644 → 100755`. */
  readonly modeChange: string | null;
  /** True if a side lacks the final newline. */
  readonly lacksFinalNewline: boolean;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/** Decodes a path that git has quoted, with escapes and octal bytes. */
export function unquotePath(name: string): string {
  if (!name.startsWith('"')) return name;
  const inner = name.slice(1, name.lastIndexOf('"') || undefined);
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (let at = 0; at < inner.length; at += 1) {
    const next = inner[at + 1] ?? '';
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(at + 1));
    if (inner[at] !== '\\') {
      const character = String.fromCodePoint(inner.codePointAt(at) ?? 0xfffd);
      bytes.push(...encoder.encode(character));
      at += character.length - 1;
    } else if (octal !== null) {
      bytes.push(Number.parseInt(octal[0], 8));
      at += 3;
    } else {
      bytes.push(ESCAPES[next] ?? next.charCodeAt(0));
      at += 1;
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/**
 * Parses the path of a `--- ` or `+++ ` line; null for `/dev/null`. Git ends a path with spaces by
 * a tab.
 */
function stripSide(text: string): string | null {
  const name = unquotePath(text.endsWith('\t') ? text.slice(0, -1) : text);
  return name === '/dev/null' ? null : name.slice(2);
}

/** Parses the path of a `diff --git a/x b/x` line, for files without other path lines. */
function parseDiffLine(line: string): string {
  const paths = line.slice('diff --git '.length);
  if (paths.startsWith('"')) return unquotePath(paths.slice(0, paths.indexOf('"', 1) + 1)).slice(2);
  // Both paths are equal except for their prefix, so each is half of the line.
  return paths.slice(2, (paths.length - 1) / 2);
}

interface PatchFileDraft {
  headerPath: string;
  oldPath: string | null;
  newPath: string | null;
  moveKind: 'renamed' | 'copied' | null;
  isNew: boolean;
  isDeleted: boolean;
  modes: [string | null, string | null];
  binary: boolean;
  lacksFinalNewline: boolean;
  hunks: { header: string; lines: PatchLine[] }[];
}

function startFile(line: string): PatchFileDraft {
  return {
    headerPath: parseDiffLine(line), oldPath: null, newPath: null, moveKind: null, isNew: false, isDeleted: false,
    modes: [null, null], binary: false, lacksFinalNewline: false, hunks: [],
  };
}

/** Applies a header line to the file. */
function readHeaderLine(file: PatchFileDraft, line: string): void {
  const stripPrefix = (prefix: string) => (line.startsWith(prefix) ? line.slice(prefix.length) : null);
  const from = stripPrefix('rename from ') ?? stripPrefix('copy from ');
  const to = stripPrefix('rename to ') ?? stripPrefix('copy to ');
  if (from !== null) {
    file.oldPath = unquotePath(from);
    file.moveKind = line.startsWith('rename') ? 'renamed' : 'copied';
  } else if (to !== null) file.newPath = unquotePath(to);
  else if (line.startsWith('new file mode')) file.isNew = true;
  else if (line.startsWith('deleted file mode')) file.isDeleted = true;
  else if (line.startsWith('old mode ')) file.modes[0] = line.slice(9);
  else if (line.startsWith('new mode ')) file.modes[1] = line.slice(9);
  else if (line.startsWith('--- ')) file.oldPath = stripSide(line.slice(4)) ?? file.oldPath;
  else if (line.startsWith('+++ ')) file.newPath = stripSide(line.slice(4)) ?? file.newPath;
  else if (line.startsWith('Binary files ') || line === 'GIT binary patch') file.binary = true;
}

function finishFile(file: PatchFileDraft): PatchFile {
  const path = file.newPath ?? file.oldPath ?? file.headerPath;
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const status = file.moveKind ?? (file.isNew ? 'added' : file.isDeleted ? 'deleted' : 'changed');
  const [oldMode, newMode] = file.modes;
  return {
    path,
    oldPath: file.moveKind !== null && file.oldPath !== path ? file.oldPath : null,
    status,
    binary: file.binary,
    modeChange: oldMode !== null && newMode !== null ? `${oldMode} → ${newMode}` : null,
    lacksFinalNewline: file.lacksFinalNewline,
    hunks: file.hunks,
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
}

const HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Parses a patch into its files. */
export function parsePatch(patch: string): readonly PatchFile[] {
  const files: PatchFile[] = [];
  let file: PatchFileDraft | null = null;
  let hunk: { header: string; lines: PatchLine[] } | null = null;
  // Lines left in the hunk on each side: a line's meaning depends on its position, not on its text.
  let [oldNumber, newNumber, oldLeft, newLeft] = [0, 0, 0, 0];
  for (const line of patch.split('\n')) {
    const isInHunk = oldLeft > 0 || newLeft > 0;
    const sign = line[0];
    if (hunk !== null && isInHunk && (sign === ' ' || sign === '+' || sign === '-' || line === '')) {
      const text = line.slice(1);
      if (sign === '+') hunk.lines.push({ kind: 'added', oldNumber: null, newNumber: newNumber++, text });
      else if (sign === '-') hunk.lines.push({ kind: 'removed', oldNumber: oldNumber++, newNumber: null, text });
      else hunk.lines.push({ kind: 'same', oldNumber: oldNumber++, newNumber: newNumber++, text });
      if (sign !== '+') oldLeft -= 1;
      if (sign !== '-') newLeft -= 1;
      continue;
    }
    if (line.startsWith('diff --git ')) {
      if (file !== null) files.push(finishFile(file));
      [file, hunk, oldLeft, newLeft] = [startFile(line), null, 0, 0];
      continue;
    }
    if (file === null) continue;
    const hunkHeader = HUNK_HEADER.exec(line);
    if (hunkHeader !== null) {
      [oldNumber, oldLeft] = [Number(hunkHeader[1]), Number(hunkHeader[2] ?? 1)];
      [newNumber, newLeft] = [Number(hunkHeader[3]), Number(hunkHeader[4] ?? 1)];
      hunk = { header: line, lines: [] };
      file.hunks.push(hunk);
    } else if (sign === '\\') file.lacksFinalNewline = true;
    else if (hunk === null) readHeaderLine(file, line);
  }
  if (file !== null) files.push(finishFile(file));
  return files;
}
