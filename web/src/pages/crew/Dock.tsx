import { useQuery } from '@tanstack/react-query';
import { CircleStop, Mail, Maximize2, Play, SquareTerminal, Undo2 } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { get } from '../../api/client';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { useNow } from '../../parts/clock';
import { formatCompact, formatDuration, formatMoney, pluralize } from '../../parts/format';
import { Meter } from '../../parts/Meter';
import { StateMark, hasEnded } from '../../parts/State';
import { openStartAgent } from '../../shell/overlay';
import type { AgentDetails, CrewRow } from '../../api/types';
import { StreamTail } from './StreamTail';
import { getAllowedActions, getAgentName, describeState } from './agentText';
import css from './Dock.module.css';

export function useAgentDetails(id: string) {
  return useQuery({
    queryKey: ['agents', id, 'details'],
    queryFn: ({ signal }) => get<AgentDetails>(`/api/agents/${id}`, {}, signal),
    refetchInterval: 5000,
  });
}

export type AgentAction = 'kill' | 'abandon' | 'attach';

interface Props {
  readonly row: CrewRow;
  readonly onAction: (action: AgentAction) => void;
}

function DockActions({ row, onAction }: Props) {
  const readOnly = useReadOnly();
  const [, navigate] = useLocation();
  const allowed = getAllowedActions(row);
  const renderIcon = (Icon: typeof Play) => <Icon size={12} aria-hidden="true" />;
  return (
    <div className={css.acts}>
      <Link href={`/agents/${row.id}`} className={css.open}>
        {renderIcon(Maximize2)}
        Open <kbd aria-hidden="true">↵</kbd>
      </Link>
      {!readOnly && (
        <Button small icon={renderIcon(Mail)} hint="m" onClick={() => navigate(buildMailLink(row))}>
          Mail
        </Button>
      )}
      {allowed.attach && (
        <Button small icon={renderIcon(SquareTerminal)} hint="a" onClick={() => onAction('attach')}>
          Attach
        </Button>
      )}
      {!readOnly && allowed.resume && (
        <Button small icon={renderIcon(Play)} onClick={() => openStartAgent({ resume: row.id })}>
          Resume
        </Button>
      )}
      {!readOnly && allowed.abandon && (
        <Button small icon={renderIcon(Undo2)} onClick={() => onAction('abandon')}>
          Abandon
        </Button>
      )}
      {!readOnly && allowed.kill && (
        <Button small variant="danger" icon={renderIcon(CircleStop)} hint={row.liveBelow > 0 ? '⇧X' : 'x'} onClick={() => onAction('kill')}>
          {row.liveBelow > 0 ? 'Kill tree' : 'Kill'}
        </Button>
      )}
    </div>
  );
}

/** Address of the form that writes mail to an agent. */
export function buildMailLink(row: CrewRow): string {
  return `/mail?to=${encodeURIComponent(row.id)}`;
}

function LimitFact({ name, value, max, text }: { readonly name: string; readonly value: number; readonly max: number | null; readonly text: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Meter value={value} max={max} label={name} text={text} className={css.meter ?? ''} />
        <span>{text}</span>
      </dd>
    </>
  );
}

const formatUsed = (spent: string, cap: string | null) => (cap === null ? spent : `${spent} of ${cap}`);

/** Limits of an agent with their use. */
function Limits({ row }: { readonly row: CrewRow }) {
  const { data } = useAgentDetails(row.id);
  const now = useNow();
  const started = Date.parse(row.startedAt);
  const end = row.finishedAt === null ? now : Date.parse(row.finishedAt);
  const elapsed = row.state === 'queued' ? 0 : Math.max(0, end - started);
  const limit = row.deadlineAt === null ? null : Math.max(0, Date.parse(row.deadlineAt) - started);
  const caps = data?.budget?.caps;
  const spentUsd = data?.budget?.spent.usd ?? row.costUsd ?? 0;
  const tokens = data?.budget?.spent.tokens ?? (data === undefined ? 0 : data.tokens.input + data.tokens.output);
  const capUsd = caps?.usd ?? null;
  const capTokens = caps?.tokens ?? null;
  return (
    <dl className={css.facts} aria-label="Limits">
      <LimitFact name="Money" value={spentUsd} max={capUsd} text={formatUsed(formatMoney(spentUsd), capUsd === null ? null : formatMoney(capUsd))} />
      <LimitFact name="Tokens" value={tokens} max={capTokens} text={formatUsed(formatCompact(tokens), capTokens === null ? null : formatCompact(capTokens))} />
      <LimitFact name="Time" value={elapsed} max={limit} text={formatUsed(formatDuration(elapsed), limit === null ? null : formatDuration(limit))} />
      <dt>Below it</dt>
      <dd>
        <span>
          {row.liveBelow} live, {pluralize(row.endedBelow, 'ended child', 'ended children')}
        </span>
      </dd>
    </dl>
  );
}

const MIN_HEIGHT_PX = 110;
const MAX_HEIGHT_PX = 480;
const HEIGHT_STORAGE_KEY = 'adjutant.dock';

function loadHeight(): number {
  const stored = Number.parseInt(localStorage.getItem(HEIGHT_STORAGE_KEY) ?? '', 10);
  return stored >= MIN_HEIGHT_PX && stored <= MAX_HEIGHT_PX ? stored : 150;
}

/** Handle that resizes the dock. */
function ResizeHandle({ height, onHeight }: { readonly height: number; readonly onHeight: (height: number) => void }) {
  const dragStart = useRef<{ y: number; height: number } | null>(null);
  const change = (next: number) => {
    const clamped = Math.round(Math.min(MAX_HEIGHT_PX, Math.max(MIN_HEIGHT_PX, next)));
    onHeight(clamped);
    localStorage.setItem(HEIGHT_STORAGE_KEY, String(clamped));
  };
  return (
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label="Height of the dock"
      aria-valuenow={height}
      aria-valuemin={MIN_HEIGHT_PX}
      aria-valuemax={MAX_HEIGHT_PX}
      className={css.handle}
      onKeyDown={(event) => {
        const by = { ArrowUp: 16, ArrowDown: -16 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        change(height + by);
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        dragStart.current = { y: event.clientY, height };
      }}
      onPointerMove={(event) => {
        if (dragStart.current !== null && event.currentTarget.hasPointerCapture(event.pointerId)) change(dragStart.current.height + dragStart.current.y - event.clientY);
      }}
      onPointerUp={() => (dragStart.current = null)}
    />
  );
}

/** The selected agent: the end of its stream, its limits and its actions. */
export function DockBody({ row, onAction }: Props): ReactNode {
  return (
    <>
      <div className={css.left}>
        <div className={css.bar}>
          <StateMark state={row.state} pill {...getLabelProps(row)} />
          <span className="strong">{getAgentName(row)}</span>
          <span className={css.id}>{row.short}</span>
          <span className="small mid cut grow">{row.task === null ? '' : `TAS-${row.task.number} ${row.task.title}`}</span>
          <DockActions row={row} onAction={onAction} />
        </div>
        <StreamTail key={row.id} id={row.id} kind={row.kind} isEnded={hasEnded(row.state)} />
      </div>
      <div className={css.right}>
        <Limits row={row} />
      </div>
    </>
  );
}

function getLabelProps(row: CrewRow): { label?: string } {
  const label = describeState(row);
  return label === undefined ? {} : { label };
}

export function Dock(props: Props) {
  const [height, setHeight] = useState(loadHeight);
  return (
    <section className={css.dock} aria-label="Selected agent" style={{ height }}>
      <ResizeHandle height={height} onHeight={setHeight} />
      <DockBody {...props} />
    </section>
  );
}
