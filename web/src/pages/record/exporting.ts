// Carrying calls away as JSON Lines: what `adjutant audit export` writes, of what is looked for.
import { get } from '../../api/client';
import type { Params } from './query';
import type { AuditCalls } from '../../api/types';

/** More than this is for the command line. */
export const MOST = 20_000;

/** One line a call, oldest first. A body stays text, for its hash covers every byte of it. */
export function lines(rows: AuditCalls['rows']): string {
  return rows.map(({ number, hash, body }) => `${JSON.stringify({ number, hash, body })}\n`).join('');
}

/** Reads such calls, page after page; says how many it has so far, and whether some were left. */
export async function collect(params: Params, tell: (rows: number) => void): Promise<{ text: string; rows: number; left: boolean }> {
  let [text, rows, after] = ['', 0, 0];
  for (;;) {
    const page = await get<AuditCalls>('/api/audit', { ...params, order: 'asc', after, limit: 1000 });
    text += lines(page.rows);
    rows += page.rows.length;
    tell(rows);
    if (page.nextCursor == null) return { text, rows, left: false };
    if (rows >= MOST) return { text, rows, left: true };
    after = page.nextCursor;
  }
}

/** Gives the reader a file. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
