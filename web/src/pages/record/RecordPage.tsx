// The record page. A query selects calls; histogram, totals and table follow it.
import { useMemo, useState } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Empty } from '../../parts/Empty';
import { serverNow } from '../../parts/clock';
import { useWide } from '../../parts/media';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { kinds, useRefresh } from '../../api/live';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useTools } from '../../shell/tools';
import { useParam } from '../../shell/url';
import { CallPanel } from './CallPanel';
import { ChainMark } from './ChainMark';
import { Export } from './Export';
import { frameOf } from './frame';
import { Over } from './Over';
import { ask, parse, withTerm, type Suggestion } from './query';
import { QueryBox } from './QueryBox';
import { useNews, useRecords } from './queries';
import { RecordTable } from './RecordTable';
import type { RecordRow } from '../../api/types';
import css from './RecordPage.module.css';

const USUAL = 'since:1h';

/** Suggests callers by id and by role. */
function callers(rows: readonly RecordRow[]): readonly Suggestion[] {
  const found = new Map<string, string>([['operator', 'you']]);
  for (const { who } of rows) {
    if (who.role !== null && !who.operator) found.set(who.role, 'everybody in this role');
    if (who.short !== null && !who.operator) found.set(who.short, who.role ?? '');
  }
  return [...found].map(([text, hint]) => ({ text, hint }));
}

function useKnown(rows: readonly RecordRow[]) {
  const tools = useTools();
  return useMemo(() => {
    const named = tools.map((tool) => ({ text: tool.canonicalName, hint: tool.title }));
    const sets = [...new Set(tools.map((tool) => tool.canonicalName.replace(/^(mcp__.+?__).*$/, '$1*')))];
    return { tool: [...sets.map((text) => ({ text, hint: 'every tool of this set' })), ...named], agent: callers(rows) };
  }, [tools, rows]);
}

export default function RecordPage() {
  const [q, setQ] = useParam<string>('q', USUAL);
  const [call, setCall] = useParam<string>('call', '');
  const [turn, setTurn] = useState(0);
  const panel = useWide(1100);
  // A relative time such as `1h` is fixed when the query changes, so that the list and the
  // histogram agree.
  const now = useMemo(() => serverNow(), [q, turn]);
  const asked = useMemo(() => ask(parse(q), now), [q, now]);
  const list = useRecords(asked.params);
  const news = useNews(asked.params, list.last);
  useRefresh(kinds(''), [['record', 'news']], 1000);
  const known = useKnown(list.rows);
  const [frame, setFrame] = useState(() => frameOf(null, asked, now));
  const wanted = frameOf(frame, asked, now);
  if (wanted[0] !== frame[0] || wanted[1] !== frame[1]) setFrame(wanted);

  const choose = (since: number, until: number) => {
    const from = withTerm(q, 'since', new Date(since).toISOString());
    setQ(withTerm(from, 'until', new Date(until).toISOString()));
  };
  const clear = () => setQ(withTerm(withTerm(q, 'until', null), 'since', '1h'));
  const selected = call === '' ? null : Number(call);
  const open = (number: number) => setCall(String(number));
  const close = () => setCall('');
  const move = (by: number) => {
    const at = list.rows.findIndex((row) => row.number === selected);
    const next = list.rows[at < 0 ? 0 : at + by];
    if (next !== undefined) open(next.number);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    ...(call === '' ? {} : { Escape: close }),
  });
  const nothing = list.ready && list.rows.length === 0 && !list.searching && list.more === null;
  return (
    <Page name="Record">
      <div className={css.bar}>
        <QueryBox value={q} onChange={setQ} known={known} />
        <span className={css.gap} />
        <ChainMark onOpen={open} />
        <Export params={asked.params} />
      </div>
      {asked.problems.map((problem) => (
        <p key={problem} role="alert" className={css.wrong}>
          {problem}
        </p>
      ))}
      <Over params={asked.params} frame={frame} since={asked.since} until={asked.until} onChoose={choose} onClear={clear} />
      <div className={css.main} data-open={panel && call !== ''}>
        {list.error !== null && !list.ready ? (
          <Problem title="The record could not be read" error={list.error} onRetry={list.again} />
        ) : !list.ready ? (
          <Skeleton rows={20} height={29} />
        ) : nothing ? (
          <Empty title={q === '' ? 'The record is empty' : `No call matches ${q}`} action={<Button onClick={() => setQ('')}>Show all calls</Button>} commands={['adjutant audit']}>
            Every tool call is recorded here with its caller, input, outcome and commit.
          </Empty>
        ) : (
          <RecordTable list={list} news={news} selected={selected} onOpen={open} onNews={() => setTurn(turn + 1)} />
        )}
        {panel && call !== '' && <CallPanel key={call} number={call} onClose={close} onOpen={open} />}
      </div>
      {!panel && call !== '' && (
        <Dialog form="sheet" title={`Call ${call}`} onClose={close}>
          <CallPanel key={call} number={call} onClose={null} onOpen={open} />
        </Dialog>
      )}
    </Page>
  );
}
