import { expect, test } from 'vitest';
import { findDifferences, splitLine, buildDiffRows, listDiffFiles, type DiffRow } from './rows';

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

const buildRows = (view: 'split' | 'unified') => buildDiffRows(listDiffFiles(PATCH), view, () => true);

function describeRow(row: DiffRow): string {
  if (row.kind === 'line') return `${row.line.kind} ${row.line.oldNumber ?? '-'} ${row.line.newNumber ?? '-'} / ${row.other?.text ?? 'nothing'}`;
  if (row.kind === 'pair') return `${row.left?.text ?? 'nothing'} | ${row.right?.text ?? 'nothing'}`;
  return row.kind;
}

test('unified rows keep the order and know their counterpart', () => {
  expect(buildRows('unified').map(describeRow)).toEqual([
    'file', 'hunk', 'same 1 1 / nothing',
    'removed 2 - / let fence = lease.fence;', 'removed 3 - / one();',
    'added - 2 / let fence = row.fence;', 'added - 3 / gone();', 'added - 4 / nothing',
    'same 4 5 / nothing',
  ]);
});

test('split rows without a counterpart have an empty side', () => {
  expect(buildRows('split').map(describeRow)).toEqual([
    'file', 'hunk', '// begin | // begin',
    'let fence = row.fence; | let fence = lease.fence;', 'gone(); | one();', 'nothing | two();',
    'end | end',
  ]);
});

test('changed words are marked and keep their colours', () => {
  const row = buildRows('split')[3];
  if (row?.kind !== 'pair' || row.right === null) throw new Error('no pair');
  const pieces = splitLine(row, row.right, row.left);
  expect(pieces.map((piece) => piece.text).join('')).toBe('let fence = lease.fence;');
  expect(pieces.filter((piece) => piece.isChanged).map((piece) => piece.text)).toEqual(['lease']);
  expect(pieces.find((piece) => piece.text === 'let')?.colour).toBe('keyword');
});

test('lines with nothing in common are not compared word by word', () => {
  const line = (kind: 'added' | 'removed', text: string) => ({ kind, oldNumber: null, newNumber: null, text });
  expect(findDifferences(line('added', 'completely other words here'), line('removed', 'x = y + z'))).toEqual([]);
  expect(findDifferences(line('added', 'a b c'), line('removed', 'a c'))).toEqual([[2, 4]]);
  expect(findDifferences(line('added', 'x'.repeat(5000)), line('removed', 'x'))).toEqual([]);
});

test('a folded file has only its header, and a file missing in the patch a notice', () => {
  const files = listDiffFiles(PATCH, [
    { path: 'a.rs', status: 'changed', added: 3, removed: 2, binary: false },
    { path: 'huge.json', status: 'added', added: 90_000, removed: 0, binary: false },
  ]);
  expect(files.map((file) => file.path)).toEqual(['a.rs', 'huge.json']);
  const folded = buildDiffRows(files, 'unified', (file) => file.path === 'huge.json');
  expect(folded.map((row) => (row.kind === 'notice' ? row.text : row.kind))).toEqual(['file', 'file', 'Too large to show.']);
  const noted = buildDiffRows(files, 'unified', () => true, (path) => path === 'a.rs');
  expect(noted[1]?.kind).toBe('note');
});

test('files without lines have a notice', () => {
  const patch = (head: string) => `diff --git a/x b/x\n${head}\n`;
  const getNotice = (head: string) => {
    const row = buildDiffRows(listDiffFiles(patch(head)), 'split', () => true)[1];
    return row?.kind === 'notice' ? row.text : row?.kind;
  };
  expect(getNotice('Binary files a/x and b/x differ')).toContain('Binary file');
  expect(getNotice('old mode 100644\nnew mode 100755')).toBe('File mode changed: 100644 → 100755.');
  expect(getNotice('rename from w\nrename to x')).toBe('Renamed without changes: w → x.');
  expect(getNotice('new file mode 100644')).toBe('New empty file.');
});
