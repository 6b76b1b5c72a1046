// Parser for git patches: files, hunks and lines. A cut patch is parsed as far as it goes.

export interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed';
  /** Line number before the change; null for an added line. */
  readonly old: number | null;
  /** Line number after the change; null for a removed line. */
  readonly now: number | null;
  readonly text: string;
}

export interface Hunk {
  readonly head: string;
  readonly lines: readonly PatchLine[];
}

export interface PatchFile {
  readonly path: string;
  /** Previous path of a renamed or copied file. */
  readonly oldPath: string | null;
  readonly status: 'added' | 'changed' | 'deleted' | 'renamed' | 'copied';
  readonly binary: boolean;
  /** Change of the file mode: `mode 100644 → 100755`. */
  readonly mode: string | null;
  /** True if a side lacks the final newline. */
  readonly noEnd: boolean;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/** Decodes a path that git has quoted, with escapes and octal bytes. */
export function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const inner = name.slice(1, name.lastIndexOf('"') || undefined);
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (let at = 0; at < inner.length; at += 1) {
    const next = inner[at + 1] ?? '';
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(at + 1));
    if (inner[at] !== '\\') {
      const whole = String.fromCodePoint(inner.codePointAt(at) ?? 0xfffd);
      bytes.push(...encoder.encode(whole));
      at += whole.length - 1;
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
function sided(text: string): string | null {
  const name = unquoted(text.endsWith('\t') ? text.slice(0, -1) : text);
  return name === '/dev/null' ? null : name.slice(2);
}

/** Parses the path of a `diff --git a/x b/x` line, for files without other path lines. */
function ofFirstLine(line: string): string {
  const rest = line.slice('diff --git '.length);
  if (rest.startsWith('"')) return unquoted(rest.slice(0, rest.indexOf('"', 1) + 1)).slice(2);
  // Both paths are equal except for their prefix, so each is half of the line.
  return rest.slice(2, (rest.length - 1) / 2);
}

interface Draft {
  first: string;
  before: string | null;
  after: string | null;
  moved: 'renamed' | 'copied' | null;
  isNew: boolean;
  isGone: boolean;
  modes: [string | null, string | null];
  binary: boolean;
  noEnd: boolean;
  hunks: { head: string; lines: PatchLine[] }[];
}

function draft(line: string): Draft {
  return {
    first: ofFirstLine(line), before: null, after: null, moved: null, isNew: false, isGone: false,
    modes: [null, null], binary: false, noEnd: false, hunks: [],
  };
}

/** Applies a header line to the file. */
function readHead(file: Draft, line: string): void {
  const rest = (beginning: string) => (line.startsWith(beginning) ? line.slice(beginning.length) : null);
  const from = rest('rename from ') ?? rest('copy from ');
  const to = rest('rename to ') ?? rest('copy to ');
  if (from !== null) {
    file.before = unquoted(from);
    file.moved = line.startsWith('rename') ? 'renamed' : 'copied';
  } else if (to !== null) file.after = unquoted(to);
  else if (line.startsWith('new file mode')) file.isNew = true;
  else if (line.startsWith('deleted file mode')) file.isGone = true;
  else if (line.startsWith('old mode ')) file.modes[0] = line.slice(9);
  else if (line.startsWith('new mode ')) file.modes[1] = line.slice(9);
  else if (line.startsWith('--- ')) file.before = sided(line.slice(4)) ?? file.before;
  else if (line.startsWith('+++ ')) file.after = sided(line.slice(4)) ?? file.after;
  else if (line.startsWith('Binary files ') || line === 'GIT binary patch') file.binary = true;
}

function finished(file: Draft): PatchFile {
  const path = file.after ?? file.before ?? file.first;
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const status = file.moved ?? (file.isNew ? 'added' : file.isGone ? 'deleted' : 'changed');
  const [before, after] = file.modes;
  return {
    path,
    oldPath: file.moved !== null && file.before !== path ? file.before : null,
    status,
    binary: file.binary,
    mode: before !== null && after !== null ? `mode ${before} → ${after}` : null,
    noEnd: file.noEnd,
    hunks: file.hunks,
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Parses a patch into its files. */
export function parsePatch(patch: string): readonly PatchFile[] {
  const files: PatchFile[] = [];
  let file: Draft | null = null;
  let hunk: { head: string; lines: PatchLine[] } | null = null;
  // Lines left in the hunk on each side: a line's meaning depends on its position, not on its text.
  let [old, now, oldLeft, nowLeft] = [0, 0, 0, 0];
  for (const line of patch.split('\n')) {
    const inside = oldLeft > 0 || nowLeft > 0;
    const sign = line[0];
    if (hunk !== null && inside && (sign === ' ' || sign === '+' || sign === '-' || line === '')) {
      const text = line.slice(1);
      if (sign === '+') hunk.lines.push({ kind: 'added', old: null, now: now++, text });
      else if (sign === '-') hunk.lines.push({ kind: 'removed', old: old++, now: null, text });
      else hunk.lines.push({ kind: 'same', old: old++, now: now++, text });
      if (sign !== '+') oldLeft -= 1;
      if (sign !== '-') nowLeft -= 1;
      continue;
    }
    if (line.startsWith('diff --git ')) {
      if (file !== null) files.push(finished(file));
      [file, hunk, oldLeft, nowLeft] = [draft(line), null, 0, 0];
      continue;
    }
    if (file === null) continue;
    const found = HUNK.exec(line);
    if (found !== null) {
      [old, oldLeft] = [Number(found[1]), Number(found[2] ?? 1)];
      [now, nowLeft] = [Number(found[3]), Number(found[4] ?? 1)];
      hunk = { head: line, lines: [] };
      file.hunks.push(hunk);
    } else if (sign === '\\') file.noEnd = true;
    else if (hunk === null) readHead(file, line);
  }
  if (file !== null) files.push(finished(file));
  return files;
}
