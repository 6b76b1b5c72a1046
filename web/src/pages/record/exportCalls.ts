// Export of calls as JSON Lines, in the format of `adjutant audit export`.
import { get } from '../../api/client';
import type { RecordParams } from './query';
import type { AuditCalls } from '../../api/types';

/** Limit of an export in the browser; the command line has none. */
export const MAX_EXPORTED_CALLS = 20_000;

/** Formats one line per call. The body stays a string, because its hash covers every byte. */
export function formatLines(rows: AuditCalls['rows']): string {
  return rows.map(({ number, hash, body }) => `${JSON.stringify({ number, hash, body })}\n`).join('');
}

/**
 * Loads the matching calls page by page, oldest first; reports progress, and whether some are
 * missing.
 */
export async function collectCalls(params: RecordParams, onProgress: (rows: number) => void): Promise<{ text: string; rows: number; left: boolean }> {
  let [text, rows, after] = ['', 0, 0];
  for (;;) {
    const page = await get<AuditCalls>('/api/audit', { ...params, order: 'asc', after, limit: 1000 });
    text += formatLines(page.rows);
    rows += page.rows.length;
    onProgress(rows);
    if (page.nextCursor == null) return { text, rows, left: false };
    if (rows >= MAX_EXPORTED_CALLS) return { text, rows, left: true };
    after = page.nextCursor;
  }
}

/** Downloads a text as a file. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
