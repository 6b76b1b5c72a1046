import { expect, test } from 'vitest';
import { parsePatch, unquotePath } from './parse';

const PATCH = `diff --git a/src/claims.rs b/src/claims.rs
index 1a2b3c4..5d6e7f8 100644
--- a/src/claims.rs
+++ b/src/claims.rs
@@ -118,4 +118,4 @@ pub fn claim(
 let row = 1;
-let fence = row.fence;
--- let odd = 1;
+let lease = tx.lock();
+++ let odd = 2;
 done
@@ -160 +160,0 @@
-gone
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/image b/image
new file mode 100644
index 0000000..1a2b3c4
Binary files /dev/null and b/image differ
diff --git "a/two\\nlines" "b/two\\nlines"
new file mode 100644
index 0000000..1a2b3c4
--- /dev/null
+++ "b/two\\nlines"
@@ -0,0 +1 @@
+x
\\ No newline at end of file
diff --git a/a b.txt b/a b.txt
deleted file mode 100644
index 1a2b3c4..0000000
--- a/a b.txt\t
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`;

test('files, hunks and lines are parsed, whatever the lines contain', () => {
  const files = parsePatch(PATCH);
  expect(files.map((file) => [file.status, file.path, file.oldPath])).toEqual([
    ['changed', 'src/claims.rs', null],
    ['renamed', 'new name.txt', 'old name.txt'],
    ['added', 'image', null],
    ['added', 'two\nlines', null],
    ['deleted', 'a b.txt', null],
    ['changed', 'run.sh', null],
  ]);
  const [claims, , image, lines, , run] = files;
  expect([claims?.added, claims?.removed]).toEqual([2, 3]);
  expect(claims?.hunks[0]?.lines.map((line) => [line.kind, line.oldNumber, line.newNumber, line.text])).toEqual([
    ['same', 118, 118, 'let row = 1;'],
    ['removed', 119, null, 'let fence = row.fence;'],
    ['removed', 120, null, '-- let odd = 1;'],
    ['added', null, 119, 'let lease = tx.lock();'],
    ['added', null, 120, '++ let odd = 2;'],
    ['same', 121, 121, 'done'],
  ]);
  expect(claims?.hunks[1]?.lines).toEqual([{ kind: 'removed', oldNumber: 160, newNumber: null, text: 'gone' }]);
  expect(image?.binary).toBe(true);
  expect(lines?.lacksFinalNewline).toBe(true);
  expect(run?.modeChange).toBe('100644 → 100755');
});

test('a cut patch is parsed as far as it goes', () => {
  for (let end = 0; end <= PATCH.length; end += 1) {
    for (const file of parsePatch(PATCH.slice(0, end))) expect(typeof file.path).toBe('string');
  }
  const cut = parsePatch(PATCH.slice(0, PATCH.indexOf('let lease')));
  expect(cut[0]?.hunks[0]?.lines.length).toBe(4);
});

test('quoted paths are decoded', () => {
  expect(unquotePath('"a\\ttab \\"q\\" \\\\ gr\\303\\274n"')).toBe('a\ttab "q" \\ grün');
  expect(unquotePath('plain')).toBe('plain');
  expect(unquotePath('"grün 🌿"')).toBe('grün 🌿');
});
