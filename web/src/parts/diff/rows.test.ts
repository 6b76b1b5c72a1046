import { expect, test } from 'vitest';
import { differing, piecesOf, rowsOf, shownFiles, type Row } from './rows';

const PATCH = `diff --git a/a.rs b/a.rs
--- a/a.rs
+++ b/a.rs
@@ -1,4 +1,5 @@ fn main
 // begin
-let fence = row.fence;
-gone();
+let fence = lease.fence;
+one();
+two();
 end
`;

const rows = (view: 'split' | 'unified') => rowsOf(shownFiles(PATCH), view, () => true);

function shape(row: Row): string {
  if (row.kind === 'line') return `${row.line.kind} ${row.line.old ?? '-'} ${row.line.now ?? '-'} / ${row.other?.text ?? 'nothing'}`;
  if (row.kind === 'pair') return `${row.left?.text ?? 'nothing'} | ${row.right?.text ?? 'nothing'}`;
  return row.kind;
}

test('on one side lines keep their order, and each knows what it stands for', () => {
  expect(rows('unified').map(shape)).toEqual([
    'file', 'hunk', 'same 1 1 / nothing',
    'removed 2 - / let fence = lease.fence;', 'removed 3 - / one();',
    'added - 2 / let fence = row.fence;', 'added - 3 / gone();', 'added - 4 / nothing',
    'same 4 5 / nothing',
  ]);
});

test('on two sides what has no counterpart stands beside nothing', () => {
  expect(rows('split').map(shape)).toEqual([
    'file', 'hunk', '// begin | // begin',
    'let fence = row.fence; | let fence = lease.fence;', 'gone(); | one();', 'nothing | two();',
    'end | end',
  ]);
});

test('words that differ are marked, and colours stay', () => {
  const row = rows('split')[3];
  if (row?.kind !== 'pair' || row.right === null) throw new Error('no pair');
  const pieces = piecesOf(row, row.right, row.left);
  expect(pieces.map((piece) => piece.text).join('')).toBe('let fence = lease.fence;');
  expect(pieces.filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(['lease']);
  expect(pieces.find((piece) => piece.text === 'let')?.colour).toBe('keyword');
});

test('lines with nothing in common are not compared word by word', () => {
  const line = (kind: 'added' | 'removed', text: string) => ({ kind, old: null, now: null, text });
  expect(differing(line('added', 'completely other words here'), line('removed', 'x = y + z'))).toEqual([]);
  expect(differing(line('added', 'a b c'), line('removed', 'a c'))).toEqual([[2, 4]]);
  expect(differing(line('added', 'x'.repeat(5000)), line('removed', 'x'))).toEqual([]);
});

test('a folded file is its head; one that the patch does not reach says so', () => {
  const files = shownFiles(PATCH, [
    { path: 'a.rs', status: 'changed', added: 3, removed: 2, binary: false },
    { path: 'huge.json', status: 'added', added: 90_000, removed: 0, binary: false },
  ]);
  expect(files.map((file) => file.path)).toEqual(['a.rs', 'huge.json']);
  const folded = rowsOf(files, 'unified', (file) => file.path === 'huge.json');
  expect(folded.map((row) => (row.kind === 'word' ? row.text : row.kind))).toEqual(['file', 'file', 'Too large to show.']);
  const noted = rowsOf(files, 'unified', () => true, (path) => path === 'a.rs');
  expect(noted[1]?.kind).toBe('note');
});

test('what is not a text, only renamed, or only its mode says that', () => {
  const patch = (head: string) => `diff --git a/x b/x\n${head}\n`;
  const word = (head: string) => {
    const row = rowsOf(shownFiles(patch(head)), 'split', () => true)[1];
    return row?.kind === 'word' ? row.text : row?.kind;
  };
  expect(word('Binary files a/x and b/x differ')).toContain('Binary file');
  expect(word('old mode 100644\nnew mode 100755')).toBe('Only its mode 100644 → 100755.');
  expect(word('rename from w\nrename to x')).toBe('Only its name: w → x.');
  expect(word('new file mode 100644')).toBe('New empty file.');
});
