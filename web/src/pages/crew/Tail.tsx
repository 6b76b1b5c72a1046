import { useEffect, useRef, useState } from 'react';
import { get } from '../../api/client';
import { Ansi } from '../../parts/Ansi';
import { time } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import type { AgentStream } from '../../api/types';
import { join, linesOf, type Line } from './lines';
import css from './Tail.module.css';

const LINES = 60;
const WAIT = 25;
const PAUSE = 2000;

/** Live end of an agent's stream. Scrolls along while it is scrolled to the end. */
export function Tail({ id, kind, over }: { readonly id: string; readonly kind: string; readonly over: boolean }) {
  const [lines, setLines] = useState<readonly Line[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (kind === 'enlisted') return;
    const abort = new AbortController();
    void follow(id, abort.signal, (more) => setLines((before) => join(before ?? [], more)), setError);
    return () => abort.abort();
  }, [id, kind]);
  useEffect(() => {
    const element = box.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  if (kind === 'enlisted') return <p className={css.none}>This agent runs elsewhere, so its output is not available here. Its calls are in the record.</p>;
  if (error !== null && lines === null) return <Problem error={error} title="Its stream could not be read" />;
  if (lines !== null && lines.length === 0) return <p className={css.none}>{over ? 'No output.' : 'It has printed nothing yet.'}</p>;
  return (
    <div
      ref={box}
      role="log"
      aria-label="The end of its stream"
      aria-live="off"
      tabIndex={0}
      className={`${css.tail} scroll`}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      {(lines ?? []).map((line) => (
        <div key={line.key} className={line.kind === 'call' ? css.call : css.line}>
          <time dateTime={line.at}>{time(line.at, true).slice(-8)}</time>
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
async function follow(id: string, signal: AbortSignal, give: (lines: readonly Line[]) => void, fail: (error: unknown) => void): Promise<void> {
  let query: Record<string, number> = { tail: LINES };
  while (!signal.aborted) {
    try {
      const part = await get<AgentStream>(`/api/agents/${id}/stream`, query, signal);
      give(linesOf(part));
      if (part.complete) return;
      query = { attempt: part.attempt, segment: part.next.segment, offset: part.next.offset, waitSeconds: WAIT };
    } catch (error) {
      if (signal.aborted) return;
      fail(error);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
