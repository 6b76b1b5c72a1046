/** Parses task names as typed: separated by commas or spaces, with or without `TAS-`. */
export function parseTaskNames(written: string): string[] {
  const parts = written.split(/[\s,]+/).filter((part) => part !== '');
  return parts.map((part) => (/^\d+$/.test(part) ? `TAS-${part}` : part.replace(/^#(\d+)$/, 'TAS-$1')));
}
