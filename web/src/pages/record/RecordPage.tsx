// The record page. A query selects calls; histogram, totals and table follow it.
import { useMemo, useState } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { EmptyState } from '../../parts/EmptyState';
import { getServerTime } from '../../parts/clock';
import { useMinWidth } from '../../parts/media';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useTools } from '../../shell/tools';
import { useParam } from '../../shell/url';
import { CallPanel } from './CallPanel';
import { ChainMark } from './ChainMark';
import { ExportMenu } from './ExportMenu';
import { chooseFrame } from './frame';
import { RecordOverview } from './RecordOverview';
import { buildRecordRequest, parseQuery, withTerm, type Suggestion } from './query';
import { QueryBox } from './QueryBox';
import { useNewCallCount, useRecords } from './queries';
import { RecordTable } from './RecordTable';
import type { RecordRow } from '../../api/types';
import css from './RecordPage.module.css';

const DEFAULT_QUERY = 'since:1h';

/** Suggests callers by id and by role. */
function listCallers(rows: readonly RecordRow[]): readonly Suggestion[] {
  const hints = new Map<string, string>([['operator', 'you']]);
  for (const { who } of rows) {
    if (who.role !== null && !who.operator) hints.set(who.role, 'all agents in this role');
    if (who.short !== null && !who.operator) hints.set(who.short, who.role ?? '');
  }
  return [...hints].map(([text, hint]) => ({ text, hint }));
}

function useKnownValues(rows: readonly RecordRow[]) {
  const tools = useTools();
  return useMemo(() => {
    const named = tools.map((tool) => ({ text: tool.canonicalName, hint: tool.title }));
    const sets = [...new Set(tools.map((tool) => tool.canonicalName.replace(/^(mcp__.+?__).*$/, '$1*')))];
    return { tool: [...sets.map((text) => ({ text, hint: 'all tools of this toolset' })), ...named], agent: listCallers(rows) };
  }, [tools, rows]);
}

export default function RecordPage() {
  const [q, setQ] = useParam<string>('q', DEFAULT_QUERY);
  const [call, setCall] = useParam<string>('call', '');
  const [refreshCount, setRefreshCount] = useState(0);
  const fitsPanel = useMinWidth(1100);
  // A relative time such as `1h` is fixed when the query changes, so that the list and the
  // histogram agree.
  const now = useMemo(() => getServerTime(), [q, refreshCount]);
  const request = useMemo(() => buildRecordRequest(parseQuery(q), now), [q, now]);
  const list = useRecords(request.params);
  const newCount = useNewCallCount(request.params, list.newestRow);
  useRefreshOnEvents(matchKinds(''), [['record', 'news']], 1000);
  const known = useKnownValues(list.rows);
  const [frame, setFrame] = useState(() => chooseFrame(null, request, now));
  const nextFrame = chooseFrame(frame, request, now);
  if (nextFrame[0] !== frame[0] || nextFrame[1] !== frame[1]) setFrame(nextFrame);

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
  const isEmpty = list.isReady && list.rows.length === 0 && !list.isSearching && list.loadMore === null;
  return (
    <Page name="Record">
      <div className={css.bar}>
        <QueryBox value={q} onChange={setQ} knownValues={known} />
        <span className={css.gap} />
        <ChainMark onOpen={open} />
        <ExportMenu params={request.params} />
      </div>
      {request.problems.map((problem) => (
        <p key={problem} role="alert" className={css.queryError}>
          {problem}
        </p>
      ))}
      <RecordOverview params={request.params} frame={frame} since={request.since} until={request.until} onChoose={choose} onClear={clear} />
      <div className={css.main} data-open={fitsPanel && call !== ''}>
        {list.error !== null && !list.isReady ? (
          <Problem title="The record could not be read" error={list.error} onRetry={list.retry} />
        ) : !list.isReady ? (
          <Skeleton rows={20} height={29} />
        ) : isEmpty ? (
          <EmptyState title={q === '' ? 'The record is empty' : `No call matches ${q}`} action={<Button onClick={() => setQ('')}>Show all calls</Button>} commands={['adjutant audit']}>
            Every tool call is recorded here with its caller, input, outcome and commit.
          </EmptyState>
        ) : (
          <RecordTable list={list} newCount={newCount} selected={selected} onOpen={open} onShowNew={() => setRefreshCount(refreshCount + 1)} />
        )}
        {fitsPanel && call !== '' && <CallPanel key={call} number={call} onClose={close} onOpen={open} />}
      </div>
      {!fitsPanel && call !== '' && (
        <Dialog variant="sheet" title={`Call ${call}`} onClose={close}>
          <CallPanel key={call} number={call} onClose={null} onOpen={open} />
        </Dialog>
      )}
    </Page>
  );
}
