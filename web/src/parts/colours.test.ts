import { expect, test } from 'vitest';
import { coloured, languageOf } from './colours';

test('languages are known by endings and by the words of fences', () => {
  expect(['a/b.rs', 'x.test.tsx', 'Makefile', 'bash', 'Cargo.lock', 'y.yml'].map(languageOf)).toEqual([
    'rust', 'typescript', null, 'shell', 'toml', 'yaml',
  ]);
});

test('the text comes out as it went in', () => {
  const texts = ['fn a<\'x>(b: &\'x str) { /* two\nlines */ }\n\n// end', 'const a = `t\n${b}`;\n<p>"x</p>', "echo 'open\n\n# x", '{"a": [1,\n"b"]}', ''];
  for (const language of ['rust', 'typescript', 'shell', 'json', 'go', 'python', 'yaml', 'toml', null]) {
    for (const text of texts) {
      const lines = coloured(text, language);
      expect(lines.map((line) => line.map((piece) => piece.text).join('')).join('\n')).toBe(text);
    }
  }
});

test('remarks that go over several lines are remarks on each', () => {
  const lines = coloured('a /* one\ntwo */ b', 'rust');
  expect(lines[1]?.[0]).toEqual({ text: 'two */', colour: 'comment' });
});
