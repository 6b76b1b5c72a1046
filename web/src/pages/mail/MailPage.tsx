// The mail page: questions to the operator, mail between agents, and alerts.
import { PencilLine } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { kinds, useRefresh } from '../../api/live';
import { useOverview, useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Empty } from '../../parts/Empty';
import { Search } from '../../parts/Search';
import { Segmented } from '../../parts/Segmented';
import { serverNow } from '../../parts/clock';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { Compose } from './Compose';
import { LetterList } from './LetterList';
import { useAlerts, useLetters } from './queries';
import { BOXES, type Box } from './boxes';
import { ThreadPane } from './ThreadPane';
import { keepPlaces, nextAfter, placesOf, rowsOf, type Place, type Row } from './threads';
import css from './MailPage.module.css';

function useRows(box: Box, q: string) {
  const list = useLetters(box, q);
  const key = `${box} ${q}`;
  const [held, setHeld] = useState<{ key: string; places: readonly Place[] }>({ key, places: [] });
  const all = useMemo(() => rowsOf(list.asks, list.letters, serverNow()), [list.asks, list.letters]);
  const shown = keepPlaces(held.key === key ? held.places : [], all);
  const places = placesOf(shown.rows);
  const changed = held.key !== key || places.length !== held.places.length;
  useEffect(() => {
    if (list.ready && changed) setHeld({ key, places });
  });
  const accept = () => setHeld({ key, places: placesOf(all) });
  return { ...list, rows: shown.rows, fresh: shown.fresh, accept };
}

export default function MailPage() {
  const { thread = null } = useParams<{ thread?: string }>();
  const [, go] = useLocation();
  const [named, setBox] = useParam<Box>('box', 'me');
  const box = BOXES.includes(named) ? named : 'me';
  const [q, setQ] = useParam<string>('q', '');
  const [to, setTo] = useParam<string>('to', '');
  const [writing, setWriting] = useState(false);
  const readOnly = useReadOnly();
  const overview = useOverview().data;
  const list = useRows(box, q);
  const alerts = useAlerts();
  useRefresh(kinds('mail.', 'agent.asked', 'agent.finished', 'agent.state_changed'), [['mail']]);

  const query = () => window.location.search;
  const open = (id: string | null) => go(`/mail${id === null ? '' : `/${id}`}${query()}`);
  const selected = list.rows.find((row) => row.threadId === thread || row.letter.id === thread)?.threadId ?? thread;
  const move = (by: number) => {
    const at = list.rows.findIndex((row) => row.threadId === selected);
    const next = list.rows[at < 0 ? 0 : at + by];
    if (next !== undefined) open(next.threadId);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    ...(thread === null ? {} : { Escape: () => open(null) }),
  });
  // The call takes a moment; a visitor who has opened something else meanwhile stays there.
  const done = (id: string) => {
    if (window.location.pathname === `/mail/${thread ?? ''}`) open(nextAfter(list.rows, id));
  };
  const needsAnswer = overview?.mail.needsAnswer ?? list.rows.filter((row: Row) => row.needsAnswer).length;

  return (
    <Page name="Mail">
      <div className={css.page} data-open={thread !== null}>
        <section className={css.list} aria-label="Letters">
          <div className={css.bar}>
            <Segmented
              label="Which letters"
              value={box === 'sent' ? 'agents' : box}
              choices={[
                { value: 'me', label: 'For me', ...(needsAnswer > 0 ? { count: needsAnswer } : {}) },
                { value: 'agents', label: 'All agents' },
                { value: 'alerts', label: 'Alerts', ...(alerts > 0 ? { count: alerts } : {}) },
              ]}
              onChange={setBox}
            />
            <span className="grow" />
            {!readOnly && <Button icon={<PencilLine size={14} aria-hidden="true" />} aria-label="Write a letter" onClick={() => setWriting(true)} />}
          </div>
          <div className={css.search}>
            <Search label="Filter letters" value={q} onChange={setQ} />
          </div>
          <LetterList list={list} box={box} q={q} selected={selected} onOpen={open} onClear={() => setQ('')} />
        </section>
        {thread === null ? (
          <div className={css.nothing}>
            {list.ready && list.rows.length > 0 && (
              <Empty title="Choose a letter">
                The arrow keys move the selection, <kbd>e</kbd> marks what is open as read.
              </Empty>
            )}
          </div>
        ) : (
          <ThreadPane key={selected ?? thread} id={thread} onBack={() => open(null)} onDone={done} onWrite={setTo} />
        )}
      </div>
      {(writing || to !== '') && !readOnly && (
        <Compose
          to={to}
          onClose={() => {
            setWriting(false);
            setTo('');
          }}
        />
      )}
    </Page>
  );
}
