import { useQuery } from '@tanstack/react-query';
import { CircleStop, Mail, Maximize2, Play, SquareTerminal, Undo2 } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { get } from '../../api/client';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { useNow } from '../../parts/clock';
import { money, short, span } from '../../parts/format';
import { Meter } from '../../parts/Meter';
import { StateMark, isOver } from '../../parts/State';
import { openStart } from '../../shell/open';
import type { AgentDetails, CrewRow } from '../../api/types';
import { Tail } from './Tail';
import { actsOf, nameOf, stateWord } from './words';
import css from './Dock.module.css';

export function useWhole(id: string) {
  return useQuery({
    queryKey: ['agents', id, 'whole'],
    queryFn: ({ signal }) => get<AgentDetails>(`/api/agents/${id}`, {}, signal),
    refetchInterval: 5000,
  });
}

export type Asking = 'kill' | 'abandon' | 'attach';

interface Props {
  readonly row: CrewRow;
  readonly onAsk: (what: Asking) => void;
}

function Acts({ row, onAsk }: Props) {
  const readOnly = useReadOnly();
  const [, go] = useLocation();
  const acts = actsOf(row);
  const icon = (Icon: typeof Play) => <Icon size={12} aria-hidden="true" />;
  return (
    <div className={css.acts}>
      <Link href={`/agents/${row.id}`} className={css.open}>
        {icon(Maximize2)}
        Open <kbd aria-hidden="true">↵</kbd>
      </Link>
      {!readOnly && (
        <Button small icon={icon(Mail)} hint="m" onClick={() => go(mailTo(row))}>
          Mail
        </Button>
      )}
      {acts.attach && (
        <Button small icon={icon(SquareTerminal)} hint="a" onClick={() => onAsk('attach')}>
          Attach
        </Button>
      )}
      {!readOnly && acts.resume && (
        <Button small icon={icon(Play)} onClick={() => openStart({ resume: row.id })}>
          Resume
        </Button>
      )}
      {!readOnly && acts.abandon && (
        <Button small icon={icon(Undo2)} onClick={() => onAsk('abandon')}>
          Abandon
        </Button>
      )}
      {!readOnly && acts.kill && (
        <Button small look="danger" icon={icon(CircleStop)} hint={row.liveBelow > 0 ? '⇧X' : 'x'} onClick={() => onAsk('kill')}>
          {row.liveBelow > 0 ? 'Kill tree' : 'Kill'}
        </Button>
      )}
    </div>
  );
}

/** Address of the form that writes mail to an agent. */
export function mailTo(row: CrewRow): string {
  return `/mail?to=${encodeURIComponent(row.id)}`;
}

function Fact({ name, value, max, text }: { readonly name: string; readonly value: number; readonly max: number | null; readonly text: string }) {
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

const of = (spent: string, cap: string | null) => (cap === null ? spent : `${spent} of ${cap}`);

/** Limits of an agent with their use. */
function Limits({ row }: { readonly row: CrewRow }) {
  const { data } = useWhole(row.id);
  const now = useNow();
  const started = Date.parse(row.startedAt);
  const until = row.finishedAt === null ? now : Date.parse(row.finishedAt);
  const ran = row.state === 'queued' ? 0 : Math.max(0, until - started);
  const whole = row.deadlineAt === null ? null : Math.max(0, Date.parse(row.deadlineAt) - started);
  const caps = data?.budget?.caps;
  const usd = data?.budget?.spent.usd ?? row.costUsd ?? 0;
  const tokens = data?.budget?.spent.tokens ?? (data === undefined ? 0 : data.tokens.input + data.tokens.output);
  const capUsd = caps?.usd ?? null;
  const capTokens = caps?.tokens ?? null;
  return (
    <dl className={css.facts} aria-label="Limits">
      <Fact name="Money" value={usd} max={capUsd} text={of(money(usd), capUsd === null ? null : money(capUsd))} />
      <Fact name="Tokens" value={tokens} max={capTokens} text={of(short(tokens), capTokens === null ? null : short(capTokens))} />
      <Fact name="Time" value={ran} max={whole} text={of(span(ran), whole === null ? null : span(whole))} />
      <dt>Below it</dt>
      <dd>
        <span>
          {row.liveBelow} live, {row.endedBelow} of its own ended
        </span>
      </dd>
    </dl>
  );
}

const LEAST = 110;
const MOST = 480;
const KEPT = 'adjutant.dock';

function remembered(): number {
  const kept = Number.parseInt(localStorage.getItem(KEPT) ?? '', 10);
  return kept >= LEAST && kept <= MOST ? kept : 150;
}

/** Handle that resizes the dock. */
function Handle({ height, onHeight }: { readonly height: number; readonly onHeight: (height: number) => void }) {
  const from = useRef<{ y: number; height: number } | null>(null);
  const change = (next: number) => {
    const kept = Math.round(Math.min(MOST, Math.max(LEAST, next)));
    onHeight(kept);
    localStorage.setItem(KEPT, String(kept));
  };
  return (
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label="Height of the dock"
      aria-valuenow={height}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
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
        from.current = { y: event.clientY, height };
      }}
      onPointerMove={(event) => {
        if (from.current !== null && event.currentTarget.hasPointerCapture(event.pointerId)) change(from.current.height + from.current.y - event.clientY);
      }}
      onPointerUp={() => (from.current = null)}
    />
  );
}

/** The selected agent: the end of its stream, its limits and its actions. */
export function DockBody({ row, onAsk }: Props): ReactNode {
  return (
    <>
      <div className={css.left}>
        <div className={css.bar}>
          <StateMark state={row.state} pill {...wordOf(row)} />
          <span className="strong">{nameOf(row)}</span>
          <span className={css.id}>{row.short}</span>
          <span className="small mid cut grow">{row.task === null ? '' : `TAS-${row.task.number} ${row.task.title}`}</span>
          <Acts row={row} onAsk={onAsk} />
        </div>
        <Tail key={row.id} id={row.id} kind={row.kind} over={isOver(row.state)} />
      </div>
      <div className={css.right}>
        <Limits row={row} />
      </div>
    </>
  );
}

function wordOf(row: CrewRow): { word?: string } {
  const word = stateWord(row);
  return word === undefined ? {} : { word };
}

export function Dock(props: Props) {
  const [height, setHeight] = useState(remembered);
  return (
    <section className={css.dock} aria-label="Selected agent" style={{ height }}>
      <Handle height={height} onHeight={setHeight} />
      <DockBody {...props} />
    </section>
  );
}
