import { expect, test } from 'vitest';
import { shades, withoutColours } from './terminal';

const ESC = '\u001b';

test('colours of a terminal become colours of the page', () => {
  expect(shades(`${ESC}[1;32mPASS${ESC}[0m one ${ESC}[38;5;196mtwo${ESC}[39m ${ESC}[38;2;10;200;210mthree${ESC}[0m`)).toEqual([
    { text: 'PASS', colour: 'green', marks: ['bold'] },
    { text: ' one ', colour: null, marks: [] },
    { text: 'two', colour: 'red', marks: [] },
    { text: ' ', colour: null, marks: [] },
    { text: 'three', colour: 'cyan', marks: [] },
  ]);
  expect(shades(`${ESC}[90mdim${ESC}[0m`)[0]?.colour).toBe('dim');
  expect(shades(`${ESC}[38;5;250mgrey${ESC}[0m`)[0]?.colour).toBe('plain');
});

test('whatever moves the cursor, sets a title or makes a link is left out', () => {
  const text = `${ESC}]0;title\u0007${ESC}[2K${ESC}[1Aone${ESC}]8;;http://x${ESC}\\two${ESC}]8;;${ESC}\\\u0007\u0000`;
  expect(withoutColours(text)).toBe('onetwo');
});

test('what was written over is gone, and the end of a Windows line is no such thing', () => {
  expect(withoutColours('10 %\r50 %\rdone\nnext\r\nlast')).toBe('done\nnext\nlast');
});

test('what looks like HTML stays text', () => {
  expect(shades(`${ESC}[31m<img src=x onerror=alert(1)>${ESC}[0m`)[0]?.text).toBe('<img src=x onerror=alert(1)>');
});
