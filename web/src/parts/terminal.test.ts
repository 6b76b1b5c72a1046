import { expect, test } from 'vitest';
import { parseTerminal, stripSequences } from './terminal';

const ESC = '\u001b';

test("terminal colours are mapped to the page's colours", () => {
  expect(parseTerminal(`${ESC}[1;32mPASS${ESC}[0m one ${ESC}[38;5;196mtwo${ESC}[39m ${ESC}[38;2;10;200;210mthree${ESC}[0m`)).toEqual([
    { text: 'PASS', colour: 'green', decorations: ['bold'] },
    { text: ' one ', colour: null, decorations: [] },
    { text: 'two', colour: 'red', decorations: [] },
    { text: ' ', colour: null, decorations: [] },
    { text: 'three', colour: 'cyan', decorations: [] },
  ]);
  expect(parseTerminal(`${ESC}[90mdim${ESC}[0m`)[0]?.colour).toBe('dim');
  expect(parseTerminal(`${ESC}[38;5;250mgrey${ESC}[0m`)[0]?.colour).toBe('plain');
});

test('cursor movement, titles and links are removed', () => {
  const text = `${ESC}]0;title\u0007${ESC}[2K${ESC}[1Aone${ESC}]8;;http://x${ESC}\\two${ESC}]8;;${ESC}\\\u0007\u0000`;
  expect(stripSequences(text)).toBe('onetwo');
});

test('overwritten text is removed, and Windows line ends are kept', () => {
  expect(stripSequences('10 %\r50 %\rdone\nnext\r\nlast')).toBe('done\nnext\nlast');
});

test('HTML in output stays text', () => {
  expect(parseTerminal(`${ESC}[31m<img src=x onerror=alert(1)>${ESC}[0m`)[0]?.text).toBe('<img src=x onerror=alert(1)>');
});
