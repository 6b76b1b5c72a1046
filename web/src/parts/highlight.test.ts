import { expect, test } from 'vitest';
import { highlight, detectLanguage } from './highlight';

test('languages are detected by extension and by fence', () => {
  expect(['a/b.rs', 'x.test.tsx', 'Makefile', 'bash', 'Cargo.lock', 'y.yml'].map(detectLanguage)).toEqual([
    'rust', 'typescript', null, 'shell', 'toml', 'yaml',
  ]);
});

test('highlighting preserves the text', () => {
  const texts = ['fn a<\'x>(b: &\'x str) { /* two\nlines */ }\n\n// end', 'const a = `t\n${b}`;\n<p>"x</p>', "echo 'open\n\n# x", '{"a": [1,\n"b"]}', ''];
  for (const language of ['rust', 'typescript', 'shell', 'json', 'go', 'python', 'yaml', 'toml', null]) {
    for (const text of texts) {
      const lines = highlight(text, language);
      expect(lines.map((line) => line.map((piece) => piece.text).join('')).join('\n')).toBe(text);
    }
  }
});

test('comments over several lines are highlighted on each line', () => {
  const lines = highlight('a /* one\ntwo */ b', 'rust');
  expect(lines[1]?.[0]).toEqual({ text: 'two */', colour: 'comment' });
});
