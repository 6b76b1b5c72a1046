// List of mail: one row per thread, in groups. Rows change in place; new threads wait behind a
// button.
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowUp, TriangleAlert, User } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../../parts/Button';
import { Timestamp } from '../../parts/Elapsed';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { StateIcon } from '../../parts/State';
import type { MailListState as List } from './queries';
import type { MailItem } from '../../api/types';
import type { MailBoxName } from './boxes';
import { getPersonName, type ThreadRow } from './threads';
import css from './MailList.module.css';

interface Props {
  readonly list: List & { readonly rows: readonly ThreadRow[]; readonly fresh: number; readonly accept: () => void };
  readonly box: MailBoxName;
  readonly q: string;
  readonly selected: string | null;
  readonly onOpen: (threadId: string) => void;
  readonly onClear: () => void;
}

const GROUP_HEIGHT_PX = 28;
const ROW_HEIGHT_PX = 73;

type ListLine = { readonly group: string; readonly row: ThreadRow | null };

function buildLines(rows: readonly ThreadRow[]): ListLine[] {
  return rows.flatMap((row, at): ListLine[] => {
    const line = { group: row.group, row };
    return rows[at - 1]?.group === row.group ? [line] : [{ group: row.group, row: null }, line];
  });
}

function MailIcon({ mail }: { readonly mail: MailItem }) {
  if (mail.kind === 'alert') return <TriangleAlert size={14} className={css.alert} role="img" aria-label="Alert" />;
  if (mail.from.human) return <User size={14} className="dim" role="img" aria-label="From you" />;
  return <StateIcon state={mail.needsAnswer ? 'waiting_input' : (mail.from.state ?? 'lost')} />;
}

const KIND_CHIPS: Readonly<Partial<Record<MailItem['kind'], string>>> = { question: 'question', permission: 'permission', alert: 'alert' };

function ThreadListItem({ row, box, selected, onOpen }: { readonly row: ThreadRow; readonly box: MailBoxName; readonly selected: boolean; readonly onOpen: () => void }) {
  const { mail } = row;
  const chip = KIND_CHIPS[mail.kind];
  const nameClass = row.isUnread ? 'strong cut' : 'mid cut';
  const names = box === 'me' || box === 'alerts' ? getPersonName(mail.from) : `${getPersonName(mail.from)} to ${getPersonName(mail.to)}`;
  return (
    <button type="button" className={css.row} aria-current={selected} onClick={onOpen}>
      <span className={css.shape}>
        <MailIcon mail={mail} />
      </span>
      <span className={css.words}>
        <span className="row">
          <span className={nameClass}>{names}</span>
          {chip !== undefined && <span className={css.chip}>{chip}</span>}
          {mail.kind !== 'letter' && mail.kind !== 'alert' && !row.needsAnswer && mail.to.human && <span className="tiny dim">settled</span>}
        </span>
        <span className={row.isUnread ? 'strong cut' : 'cut'}>{mail.subject}</span>
        <span className="small dim cut">{mail.preview}</span>
      </span>
      <span className={css.side}>
        <span className="tiny dim">
          <Timestamp at={mail.createdAt} />
        </span>
        {row.isUnread && <i className={css.dot} role="img" aria-label="Unread" />}
        {row.mailCount > 1 && <span className="tiny dim">{row.mailCount}</span>}
      </span>
    </button>
  );
}

const EMPTY_TEXTS: Readonly<Record<MailBoxName, readonly [string, string]>> = {
  me: ['Nothing needs you', 'Agents write to you when they have a question, need permission for a tool or cannot continue. Read and answer their mail here.'],
  agents: ['No mail between agents', 'Agents write to each other with the mail tools. You can read their mail here.'],
  alerts: ['No alerts', 'You are notified here when a critical tool fails or a merge is held.'],
  sent: ['No sent mail yet', 'Your replies and messages are listed here.'],
};

export function MailList({ list, box, q, selected, onOpen, onClear }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const lines = buildLines(list.rows);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: (at) => (lines[at]?.row === null ? GROUP_HEIGHT_PX : ROW_HEIGHT_PX),
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
  const { loadMore } = list;
  useEffect(() => {
    if (loadMore !== null && end >= lines.length - 5) loadMore();
  }, [loadMore, end, lines.length]);

  if (list.error !== null && list.rows.length === 0) {
    return <Problem error={list.error} title="The mail could not be read" onRetry={list.retry} />;
  }
  if (!list.isReady) return <Skeleton rows={8} height={ROW_HEIGHT_PX} />;
  if (list.rows.length === 0) {
    if (q !== '') {
      return (
        <EmptyState title="No matching mail" action={<Button onClick={onClear}>Clear the filter</Button>}>
          No mail matches “{q}”.
        </EmptyState>
      );
    }
    const [title, text] = EMPTY_TEXTS[box];
    return (
      <EmptyState title={title} commands={box === 'me' ? ['adjutant mail --all'] : []}>
        {text}
      </EmptyState>
    );
  }
  return (
    <>
      {list.fresh > 0 && (
        <div className={css.fresh}>
          <Button small icon={<ArrowUp size={12} aria-hidden="true" />} onClick={list.accept}>
            Show {list.fresh} new
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
                  <ThreadListItem row={row} box={box} selected={row.threadId === selected} onOpen={() => onOpen(row.threadId)} />
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}
