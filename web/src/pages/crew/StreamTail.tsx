import { useEffect, useRef, useState } from 'react';
import { get } from '../../api/client';
import { Ansi } from '../../parts/Ansi';
import { formatTime } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import type { AgentStream } from '../../api/types';
import { appendLines, buildLines, type TailLine } from './tailLines';
import css from './StreamTail.module.css';

const TAIL_ITEMS = 60;
const LONG_POLL_SECONDS = 25;
const RETRY_DELAY_MS = 2000;

/** Live end of an agent's stream. Scrolls along while it is scrolled to the end. */
export function StreamTail({ id, kind, isEnded }: { readonly id: string; readonly kind: string; readonly isEnded: boolean }) {
  const [lines, setLines] = useState<readonly TailLine[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (kind === 'enlisted') return;
    const abort = new AbortController();
    void followTail(id, abort.signal, (more) => setLines((before) => appendLines(before ?? [], more)), setError);
    return () => abort.abort();
  }, [id, kind]);
  useEffect(() => {
    const element = box.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  if (kind === 'enlisted') return <p className={css.none}>This agent runs elsewhere, so its output is not available here. Its calls are in the record.</p>;
  if (error !== null && lines === null) return <Problem error={error} title="The stream could not be read" />;
  if (lines !== null && lines.length === 0) return <p className={css.none}>{isEnded ? 'No output.' : 'No output yet.'}</p>;
  return (
    <div
      ref={box}
      role="log"
      aria-label="End of the stream"
      aria-live="off"
      tabIndex={0}
      className={`${css.tail} scroll`}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      {(lines ?? []).map((line) => (
        <div key={line.key} className={line.kind === 'call' ? css.call : css.line}>
          <time dateTime={line.at}>{formatTime(line.at, true).slice(-8)}</time>
          {line.tool !== null && <b>{line.tool} </b>}
          <Ansi text={line.text} />
        </div>
      ))}
    </div>
  );
}

/**
 * Reads the end of the stream, then long-polls until the signal aborts or the stream is complete.
 */
async function followTail(id: string, signal: AbortSignal, onLines: (lines: readonly TailLine[]) => void, onError: (error: unknown) => void): Promise<void> {
  let query: Record<string, number> = { tail: TAIL_ITEMS };
  while (!signal.aborted) {
    try {
      const part = await get<AgentStream>(`/api/agents/${id}/stream`, query, signal);
      onLines(buildLines(part));
      if (part.complete) return;
      query = { attempt: part.attempt, segment: part.next.segment, offset: part.next.offset, waitSeconds: LONG_POLL_SECONDS };
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS));
    }
  }
}
