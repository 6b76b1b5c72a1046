// The mail page: questions to the operator, mail between agents, and alerts.
import { PencilLine } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { useOverview, useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { EmptyState } from '../../parts/EmptyState';
import { FilterInput } from '../../parts/FilterInput';
import { SegmentedControl } from '../../parts/SegmentedControl';
import { getServerTime } from '../../parts/clock';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { ComposeDialog } from './ComposeDialog';
import { MailList } from './MailList';
import { useUnreadAlertCount, useMailList } from './queries';
import { MAIL_BOXES, type MailBoxName } from './boxes';
import { ThreadPane } from './ThreadPane';
import { keepPositions, findNextThread, getPositions, buildThreadRows, type RowPosition, type ThreadRow } from './threads';
import css from './MailPage.module.css';

function useThreadRows(box: MailBoxName, q: string) {
  const list = useMailList(box, q);
  const key = `${box} ${q}`;
  const [held, setHeld] = useState<{ key: string; places: readonly RowPosition[] }>({ key, places: [] });
  const all = useMemo(() => buildThreadRows(list.questions, list.mail, getServerTime()), [list.questions, list.mail]);
  const shown = keepPositions(held.key === key ? held.places : [], all);
  const positions = getPositions(shown.rows);
  const changed = held.key !== key || positions.length !== held.places.length;
  useEffect(() => {
    if (list.isReady && changed) setHeld({ key, places: positions });
  });
  const showNew = () => setHeld({ key, places: getPositions(all) });
  return { ...list, rows: shown.rows, fresh: shown.fresh, accept: showNew };
}

export default function MailPage() {
  const { thread = null } = useParams<{ thread?: string }>();
  const [, navigate] = useLocation();
  const [namedBox, setBox] = useParam<MailBoxName>('box', 'me');
  const box = MAIL_BOXES.includes(namedBox) ? namedBox : 'me';
  const [q, setQ] = useParam<string>('q', '');
  const [to, setTo] = useParam<string>('to', '');
  const [isWriting, setIsWriting] = useState(false);
  const readOnly = useReadOnly();
  const overview = useOverview().data;
  const list = useThreadRows(box, q);
  const alerts = useUnreadAlertCount();
  useRefreshOnEvents(matchKinds('mail.', 'agent.asked', 'agent.finished', 'agent.state_changed'), [['mail']]);

  const getQuery = () => window.location.search;
  const open = (id: string | null) => navigate(`/mail${id === null ? '' : `/${id}`}${getQuery()}`);
  const selected = list.rows.find((row) => row.threadId === thread || row.mail.id === thread)?.threadId ?? thread;
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
  const openNext = (id: string) => {
    if (window.location.pathname === `/mail/${thread ?? ''}`) open(findNextThread(list.rows, id));
  };
  const needsAnswer = overview?.mail.needsAnswer ?? list.rows.filter((row: ThreadRow) => row.needsAnswer).length;

  return (
    <Page name="Mail">
      <div className={css.page} data-open={thread !== null}>
        <section className={css.list} aria-label="Mail list">
          <div className={css.bar}>
            <SegmentedControl
              label="Mailbox"
              value={box === 'sent' ? 'agents' : box}
              choices={[
                { value: 'me', label: 'For me', ...(needsAnswer > 0 ? { count: needsAnswer } : {}) },
                { value: 'agents', label: 'All agents' },
                { value: 'alerts', label: 'Alerts', ...(alerts > 0 ? { count: alerts } : {}) },
              ]}
              onChange={setBox}
            />
            <span className="grow" />
            {!readOnly && <Button icon={<PencilLine size={14} aria-hidden="true" />} aria-label="Write mail" onClick={() => setIsWriting(true)} />}
          </div>
          <div className={css.search}>
            <FilterInput label="Filter mail" value={q} onChange={setQ} />
          </div>
          <MailList list={list} box={box} q={q} selected={selected} onOpen={open} onClear={() => setQ('')} />
        </section>
        {thread === null ? (
          <div className={css.placeholder}>
            {list.isReady && list.rows.length > 0 && (
              <EmptyState title="Choose a thread">
                The arrow keys move the selection, <kbd>e</kbd> marks the open thread as read.
              </EmptyState>
            )}
          </div>
        ) : (
          <ThreadPane key={selected ?? thread} id={thread} onBack={() => open(null)} onDone={openNext} onWrite={setTo} />
        )}
      </div>
      {(isWriting || to !== '') && !readOnly && (
        <ComposeDialog
          to={to}
          onClose={() => {
            setIsWriting(false);
            setTo('');
          }}
        />
      )}
    </Page>
  );
}
