// List of mail: one row per thread, in groups. Rows change in place; new threads wait behind a
// button.
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowUp, TriangleAlert, User } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../../parts/Button';
import { At } from '../../parts/Elapsed';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { StateIcon } from '../../parts/State';
import { plural } from '../../parts/format';
import type { LetterList as List } from './queries';
import type { Letter } from '../../api/types';
import type { Box } from './boxes';
import { nameOf, type Row } from './threads';
import css from './LetterList.module.css';

interface Props {
  readonly list: List & { readonly rows: readonly Row[]; readonly fresh: number; readonly accept: () => void };
  readonly box: Box;
  readonly q: string;
  readonly selected: string | null;
  readonly onOpen: (threadId: string) => void;
  readonly onClear: () => void;
}

const GROUP = 28;
const ROW = 73;

type Line = { readonly group: string; readonly row: Row | null };

function linesOf(rows: readonly Row[]): Line[] {
  return rows.flatMap((row, at): Line[] => {
    const line = { group: row.group, row };
    return rows[at - 1]?.group === row.group ? [line] : [{ group: row.group, row: null }, line];
  });
}

function Shape({ letter }: { readonly letter: Letter }) {
  if (letter.kind === 'alert') return <TriangleAlert size={14} className={css.alert} role="img" aria-label="Alert" />;
  if (letter.from.human) return <User size={14} className="dim" role="img" aria-label="From you" />;
  return <StateIcon state={letter.needsAnswer ? 'waiting_input' : (letter.from.state ?? 'lost')} />;
}

const CHIPS: Readonly<Partial<Record<Letter['kind'], string>>> = { question: 'question', permission: 'permission', alert: 'alert' };

function ThreadRow({ row, box, selected, onOpen }: { readonly row: Row; readonly box: Box; readonly selected: boolean; readonly onOpen: () => void }) {
  const { letter } = row;
  const chip = CHIPS[letter.kind];
  const heavy = row.unread ? 'strong cut' : 'mid cut';
  const who = box === 'me' || box === 'alerts' ? nameOf(letter.from) : `${nameOf(letter.from)} to ${nameOf(letter.to)}`;
  return (
    <button type="button" className={css.row} aria-current={selected} onClick={onOpen}>
      <span className={css.shape}>
        <Shape letter={letter} />
      </span>
      <span className={css.words}>
        <span className="row">
          <span className={heavy}>{who}</span>
          {chip !== undefined && <span className={css.chip}>{chip}</span>}
          {letter.kind !== 'letter' && letter.kind !== 'alert' && !row.needsAnswer && letter.to.human && <span className="tiny dim">settled</span>}
        </span>
        <span className={row.unread ? 'strong cut' : 'cut'}>{letter.subject}</span>
        <span className="small dim cut">{letter.preview}</span>
      </span>
      <span className={css.side}>
        <span className="tiny dim">
          <At at={letter.createdAt} />
        </span>
        {row.unread && <i className={css.dot} role="img" aria-label="Not read yet" />}
        {row.letters > 1 && <span className="tiny dim">{row.letters}</span>}
      </span>
    </button>
  );
}

const EMPTY: Readonly<Record<Box, readonly [string, string]>> = {
  me: ['Nothing needs you', 'Agents write to you when they have a question, need permission for a tool or cannot continue. Read and answer their mail here.'],
  agents: ['No mail between agents', 'Agents write to each other with the mail tools. You can read their mail here.'],
  alerts: ['No alerts', 'You are notified here when a critical tool fails or a merge is held.'],
  sent: ['No sent mail yet', 'Your replies and messages are listed here.'],
};

export function LetterList({ list, box, q, selected, onOpen, onClear }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const lines = linesOf(list.rows);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: (at) => (lines[at]?.row === null ? GROUP : ROW),
    getItemKey: (at) => lines[at]?.row?.threadId ?? lines[at]?.group ?? at,
    overscan: 8,
  });
  const at = lines.findIndex((line) => line.row !== null && line.row.threadId === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
    // Depends only on the selection, so that the list does not scroll by itself.
  }, [selected]);
  const items = virtual.getVirtualItems();
  const end = items.at(-1)?.index ?? 0;
  const { more } = list;
  useEffect(() => {
    if (more !== null && end >= lines.length - 5) more();
  }, [more, end, lines.length]);

  if (list.error !== null && list.rows.length === 0) {
    return <Problem error={list.error} title="The letters could not be read" onRetry={list.again} />;
  }
  if (!list.ready) return <Skeleton rows={8} height={ROW} />;
  if (list.rows.length === 0) {
    if (q !== '') {
      return (
        <Empty title="No letter fits" action={<Button onClick={onClear}>Clear the filter</Button>}>
          No mail matches “{q}”.
        </Empty>
      );
    }
    const [title, text] = EMPTY[box];
    return (
      <Empty title={title} commands={box === 'me' ? ['adjutant mail --all'] : []}>
        {text}
      </Empty>
    );
  }
  return (
    <>
      {list.fresh > 0 && (
        <div className={css.fresh}>
          <Button small icon={<ArrowUp size={12} aria-hidden="true" />} onClick={list.accept}>
            {plural(list.fresh, 'new', 'new')}
          </Button>
        </div>
      )}
      <div ref={scroll} className={`scroll ${css.scroll}`}>
        <ul className={css.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const line = lines[item.index];
            if (line === undefined) return null;
            const { row } = line;
            return (
              <li key={item.key} style={{ transform: `translateY(${item.start}px)`, height: item.size }}>
                {row === null ? (
                  <h2 className={css.group}>{line.group}</h2>
                ) : (
                  <ThreadRow row={row} box={box} selected={row.threadId === selected} onOpen={() => onOpen(row.threadId)} />
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}
