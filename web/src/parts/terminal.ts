// Parser for terminal output. Maps colours to the page's own, which suit both themes.
import Anser from 'anser';

export interface TerminalPart {
  readonly text: string;
  /** A class name of Ansi.module.css, or null. */
  readonly colour: string | null;
  readonly decorations: readonly string[];
}

const PAGE_COLOUR_BY_NAME: Readonly<Record<string, string>> = {
  black: 'dim', red: 'red', green: 'green', yellow: 'yellow', blue: 'blue', magenta: 'magenta', cyan: 'cyan', white: 'plain',
  'bright-black': 'dim', 'bright-red': 'red', 'bright-green': 'green', 'bright-yellow': 'yellow', 'bright-blue': 'blue',
  'bright-magenta': 'magenta', 'bright-cyan': 'cyan', 'bright-white': 'plain',
};
const BASIC_COLOUR_NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const PALETTE_LEVELS = [0, 95, 135, 175, 215, 255];

/** Control sequences other than colours: cursor movement, titles and links. */
const OTHER_SEQUENCES = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b]*\u001b\\|\u001b\[[0-9;?<=>!]*[A-Za-ln-z@`]|\u001b[()][0-9A-B]|\u001b[=>78cDEHM]|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;

/** Drops text that a carriage return would overwrite. */
function applyCarriageReturn(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}

function findNearestColour(red: number, green: number, blue: number): string {
  const max = Math.max(red, green, blue);
  const min = Math.min(red, green, blue);
  if (max - min < 40) return max > 160 ? 'plain' : 'dim';
  const high = (value: number) => value > (max + min) / 2;
  const key = `${high(red) ? 'r' : ''}${high(green) ? 'g' : ''}${high(blue) ? 'b' : ''}`;
  return { r: 'red', g: 'green', b: 'blue', rg: 'yellow', rb: 'magenta', gb: 'cyan' }[key] ?? 'plain';
}

function mapColour(name: string | null, truecolour: string | null): string | null {
  if (name === null || name === '') return null;
  const bare = name.replace(/^ansi-/, '');
  const known = PAGE_COLOUR_BY_NAME[bare];
  if (known !== undefined) return known;
  const palette = /^palette-(\d+)$/.exec(bare);
  if (palette !== null) return mapPaletteIndex(Number(palette[1]));
  const [red = 0, green = 0, blue = 0] = (truecolour ?? '').split(',').map(Number);
  return findNearestColour(red, green, blue);
}

function mapPaletteIndex(index: number): string {
  if (index < 16) return PAGE_COLOUR_BY_NAME[BASIC_COLOUR_NAMES[index % 8] ?? 'white'] ?? 'plain';
  if (index >= 232) return index < 244 ? 'dim' : 'plain';
  const level = (step: number) => PALETTE_LEVELS[Math.floor((index - 16) / step) % 6] ?? 0;
  return findNearestColour(level(36), level(6), level(1));
}

/** Parses terminal output into coloured parts. */
export function parseTerminal(text: string): readonly TerminalPart[] {
  const clean = text.replaceAll(OTHER_SEQUENCES, '').split('\n').map(applyCarriageReturn).join('\n');
  if (!clean.includes('\u001b')) return [{ text: clean, colour: null, decorations: [] }];
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true }).map((part) => ({
    text: part.content,
    colour: mapColour(part.fg, part.fg_truecolor),
    decorations: part.decorations.filter((mark) => mark !== 'blink' && mark !== 'hidden'),
  }));
}

/** Removes all control sequences. */
export function stripSequences(text: string): string {
  return parseTerminal(text).map((part) => part.text).join('');
}
