// Current state of the sender.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Activity, GitBranch, Lock } from 'lucide-react';
import { Link } from 'wouter';
import { get } from '../../api/client';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { Elapsed } from '../../parts/Elapsed';
import { Meter } from '../../parts/Meter';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { StateMark, getStateLook } from '../../parts/State';
import { useNow } from '../../parts/clock';
import { formatMoney, formatRoughDuration, shortenId, formatTime } from '../../parts/format';
import type { AgentDetails, CrewRow, CrewRows, PersonView, Records, Thread } from '../../api/types';
import css from './SenderPanel.module.css';

/** Loads the sender's row, and reloads it after each of its events. */
export function useSenderRow(id: string | null): UseQueryResult<CrewRow> {
  const key = ['crew-row', id];
  useRefreshOnEvents((event) => event.agentId === id && matchKinds('agent.', 'mail.', 'review.')(event), [key]);
  return useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const { rows } = await get<CrewRows>('/api/crew/rows', { ids: id }, signal);
      const [row] = rows;
      if (row === undefined) throw new Error('This agent no longer exists.');
      return row;
    },
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data === undefined || getStateLook(query.state.data.state).isEnded ? false : 5000),
  });
}

/** State of the sender: "Needs you for 9 m", "In review, 2 of 3". */
export function SenderState({ row, askedSince }: { readonly row: CrewRow; readonly askedSince: string | null }) {
  const now = useNow();
  const since = askedSince ?? row.asks?.since ?? null;
  const label =
    since !== null
      ? `Needs you for ${formatRoughDuration(now - Date.parse(since))}`
      : row.state === 'waiting_review' && row.review !== null
        ? `In review, ${row.review.iteration} of ${row.review.max}`
        : row.limitedUntil !== null && row.state === 'limited'
          ? `Limited until ${formatTime(row.limitedUntil)}`
          : getStateLook(row.state).label;
  return <StateMark state={since !== null ? 'waiting_input' : row.state} label={label} pill />;
}

function SenderFacts({ row }: { readonly row: CrewRow }) {
  const spent = row.budget?.spentUsd ?? row.costUsd;
  const cap = row.budget?.usd ?? null;
  const now = useNow();
  const limitMs = row.deadlineAt === null ? null : Date.parse(row.deadlineAt) - Date.parse(row.startedAt);
  const usedMs = (row.finishedAt === null ? now : Date.parse(row.finishedAt)) - Date.parse(row.startedAt);
  return (
    <dl className={css.facts}>
      {row.task !== null && (
        <>
          <dt>Task</dt>
          <dd>
            <Link href={`/tasks?task=TAS-${row.task.number}`}>
              <span className="mono dim">TAS-{row.task.number}</span> {row.task.title}
            </Link>
          </dd>
        </>
      )}
      <dt>Runs on</dt>
      <dd>{[row.kind, row.model].filter(Boolean).join(', ')}</dd>
      {row.parentId !== null && (
        <>
          <dt>Parent</dt>
          <dd>
            <Link href={`/agents/${row.parentId}`} className="mono">
              {shortenId(row.parentId)}
            </Link>
          </dd>
        </>
      )}
      {spent !== null && (
        <>
          <dt>Money</dt>
          <dd>
            {formatMoney(spent)}
            {cap !== null && ` of ${formatMoney(cap)}`}
            {cap !== null && <Meter value={spent} max={cap} label="Spent" text={`${formatMoney(spent)} of ${formatMoney(cap)}`} className={css.meter ?? ''} />}
          </dd>
        </>
      )}
      <dt>Time</dt>
      <dd>
        <Elapsed from={row.startedAt} to={row.finishedAt} />
        {limitMs !== null && limitMs > 0 && <Meter value={usedMs} max={limitMs} label="Time used" text={`${formatRoughDuration(usedMs)} of ${formatRoughDuration(limitMs)}`} className={css.meter ?? ''} />}
      </dd>
    </dl>
  );
}

/** Returns the first string of a call's input. */
function getFirstString(input: string): string {
  return /:\s*"((?:[^"\\]|\\.){1,80})/.exec(input)?.[1] ?? '';
}

/** Latest calls of Adjutant's tools; the agent's page shows all activity. */
function useLatestCalls(id: string | null) {
  return useQuery({
    queryKey: ['crew-row', id, 'calls'],
    queryFn: async ({ signal }) => (await get<Records>('/api/record', { agent: id, limit: 5 }, signal)).rows,
    enabled: id !== null,
    retry: false,
  });
}

function useBranch(id: string | null) {
  return useQuery({
    queryKey: ['crew-row', id, 'branch'],
    queryFn: async ({ signal }) =>
      (await get<AgentDetails>(`/api/agents/${id ?? ''}`, {}, signal)).worktree?.branch ?? null,
    enabled: id !== null,
    retry: false,
  });
}

interface Props {
  readonly person: PersonView;
  readonly row: UseQueryResult<CrewRow>;
  /** Time of the open question in this thread. */
  readonly askedSince: string | null;
  readonly waitsBehind: Thread['waitsBehind'];
}

export function SenderPanel({ person, row, askedSince, waitsBehind }: Props) {
  const calls = useLatestCalls(person.agentId).data ?? [];
  const branch = useBranch(person.agentId).data ?? null;
  if (row.data === undefined) {
    return row.error === null ? <Skeleton rows={5} /> : <Problem error={row.error} title="The sender could not be read" onRetry={() => void row.refetch()} />;
  }
  const { data } = row;
  return (
    <>
      <header className={css.head}>
        <span className="strong cut">{data.role}</span>
        <span className="mono dim">{data.short}</span>
        <span className="grow" />
        <Link href={`/agents/${data.id}`} className={css.open}>
          Open
        </Link>
      </header>
      <SenderState row={data} askedSince={askedSince} />
      <SenderFacts row={data} />
      {waitsBehind.length > 0 && (
        <>
          <h3 className={css.title}>
            <Lock size={12} aria-hidden="true" /> Waiting tasks
          </h3>
          <ul className={css.lines}>
            {waitsBehind.map((task) => (
              <li key={task.taskNumber}>
                <Link href={`/tasks?task=TAS-${task.taskNumber}`}>
                  <span className="mono dim">TAS-{task.taskNumber}</span> {task.title}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
      {(data.doing !== null || calls.length > 0) && (
        <>
          <h3 className={css.title}>
            <Activity size={12} aria-hidden="true" /> Last activity
          </h3>
          <ul className={`mono ${css.lines}`}>
            {calls.toReversed().map((call) => (
              <li key={call.number} className="cut">
                <b>{call.tool.replace(/^mcp__/, '').replace('__', '_')}</b> {call.code ?? getFirstString(call.input)}
              </li>
            ))}
            {data.doing !== null && (
              <li className="cut">
                {data.doing.tool !== null && <b>{data.doing.tool} </b>}
                {data.doing.text}
              </li>
            )}
          </ul>
        </>
      )}
      {branch !== null && (
        <>
          <h3 className={css.title}>
            <GitBranch size={12} aria-hidden="true" /> Branch
          </h3>
          <p className={`mono ${css.branch}`}>{branch}</p>
        </>
      )}
    </>
  );
}
