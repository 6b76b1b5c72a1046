// Details of one call: input, output, neighbours, and its place in the chain.
import { Check, ChartGantt, Link2, RotateCw, ShieldX, X } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Json } from '../../parts/Code';
import { At } from '../../parts/Elapsed';
import { count, took } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { openTool } from '../../shell/open';
import { OutcomeMark } from './OutcomeMark';
import { useCall } from './queries';
import { toolName, whoName } from './RecordTable';
import type { RecordedCall } from '../../api/types';
import { TraceBars } from './TraceBars';
import css from './CallPanel.module.css';

interface Props {
  readonly number: string;
  /** Null inside a dialog, which has its own close button. */
  readonly onClose: (() => void) | null;
  readonly onOpen: (number: number) => void;
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isInput(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Abbreviates a hash to groups of four digits. */
function hash(text: string): string {
  return `${text.slice(0, 4)} ${text.slice(4, 8)} ${text.slice(8, 12)} … ${text.slice(-4)}`;
}

function Section({ title, icon, children }: { readonly title: string; readonly icon?: ReactNode; readonly children: ReactNode }) {
  return (
    <section className={css.section}>
      <h3>
        {icon}
        {title}
      </h3>
      {children}
    </section>
  );
}

function Facts({ call, onOpen }: { readonly call: RecordedCall; readonly onOpen: (number: number) => void }) {
  const { who, standing, error, pair } = call;
  const word = error === null ? call.outcome : error.code;
  const ended = pair !== null && pair.number > call.number;
  return (
    <dl className={css.facts}>
      <dt>Who</dt>
      <dd>
        {who.agentId === null ? whoName(who) : <Link href={`/agents/${who.agentId}`}>{who.operator ? 'operator' : who.role}</Link>}
        {who.short !== null && <code className="dim"> {who.short}</code>}
        {standing !== null && !who.operator && `, ${standing.category}, depth ${standing.depth}`}
        {who.operator && who.agentId !== null && ` for ${who.role ?? 'an agent'}`}
      </dd>
      <dt>Outcome</dt>
      <dd>
        <OutcomeMark outcome={call.outcome} word={word} />
        {call.durationMs !== null && <span className="dim"> in {took(call.durationMs)}</span>}
      </dd>
      <dt>When</dt>
      <dd>
        <At at={call.at} seconds />
      </dd>
      {(pair !== null || call.outcome === 'begun') && (
        <>
          <dt>{ended || pair === null ? 'Ended' : 'Began'}</dt>
          <dd>
            {pair === null ? (
              'not yet'
            ) : (
              <>
                <At at={pair.at} seconds /> as{' '}
                <button type="button" className={css.other} onClick={() => onOpen(pair.number)}>
                  {count(pair.number)}
                </button>
                {ended && <OutcomeMark outcome={pair.outcome} />}
              </>
            )}
          </dd>
        </>
      )}
      {call.gitCommit !== null && (
        <>
          <dt>Commit</dt>
          <dd title={call.gitCommit}>
            <code>{call.gitCommit.slice(0, 7)}</code>
            {call.branch !== null && <code className="dim"> {call.branch}</code>}
          </dd>
        </>
      )}
      {call.task !== null && (
        <>
          <dt>Task</dt>
          <dd className="cut">
            <Link href={`/tasks?task=${call.task.number}`}>TAS-{call.task.number}</Link> <span className="dim">{call.task.title}</span>
          </dd>
        </>
      )}
    </dl>
  );
}

function Chain({ chain, number }: { readonly chain: RecordedCall['chain']; readonly number: number }) {
  return (
    <>
      <dl className={css.chain}>
        <dt>before</dt>
        <dd title={chain.before}>{chain.before === '' ? 'missing' : hash(chain.before)}</dd>
        <dd className={css.place}>{count(chain.previous)}</dd>
        <dt>this</dt>
        <dd title={chain.this}>{hash(chain.this)}</dd>
        <dd className={css.place} data-state={chain.fits ? 'succeeded' : 'failed'} aria-label={`Call ${count(number)} ${chain.fits ? 'fits' : 'does not fit'}`}>
          {chain.fits ? <Check size={12} aria-hidden="true" /> : <ShieldX size={12} aria-hidden="true" />}
          {chain.fits ? 'fits' : 'does not fit'}
        </dd>
      </dl>
      {chain.problem !== null && <p role="alert" className={css.broken}>This row was changed: {chain.problem}. The rows after it cannot be trusted either.</p>}
    </>
  );
}

function Body({ call, onOpen }: { readonly call: RecordedCall; readonly onOpen: (number: number) => void }) {
  const [input, output] = useMemo(() => [read(call.wholeInput), read(call.output)], [call.wholeInput, call.output]);
  return (
    <>
      <Facts call={call} onOpen={onOpen} />
      {call.error !== null && call.error.suggestions.length > 0 && (
        <ul className={css.hints}>
          {call.error.suggestions.map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      )}
      <Section title="Input">
        <Json value={input} label="Input" />
      </Section>
      <Section title="Output">
        <Json value={output} label="Output" />
      </Section>
      {call.near.length > 1 && (
        <Section title={call.who.operator ? 'What the operator did around it' : 'What it did around it'} icon={<ChartGantt size={12} aria-hidden="true" />}>
          <TraceBars near={call.near} number={call.number} onOpen={onOpen} />
        </Section>
      )}
      <Section title="Chain" icon={<Link2 size={12} aria-hidden="true" />}>
        <Chain chain={call.chain} number={call.number} />
      </Section>
    </>
  );
}

export function CallPanel({ number, onClose, onOpen }: Props) {
  const { data: call, error, refetch } = useCall(number);
  const readOnly = useReadOnly();
  const input = call === undefined ? null : read(call.wholeInput);
  const again = call !== undefined && !readOnly && call.tool.startsWith('mcp__') && isInput(input) ? input : null;
  return (
    <aside className={css.panel} aria-label={`Call ${number}`}>
      <div className={css.head}>
        <code className="dim">{count(Number(number))}</code>
        <h2 className="cut" title={call?.tool}>
          {call === undefined ? '' : toolName(call.tool)[1]}
        </h2>
        <span className="grow" />
        {again !== null && call !== undefined && (
          <Button small icon={<RotateCw size={12} aria-hidden="true" />} onClick={() => openTool(call.tool, again)}>
            Run again
          </Button>
        )}
        {onClose !== null && <Button small look="quiet" icon={<X size={14} aria-hidden="true" />} aria-label="Close" onClick={onClose} />}
      </div>
      <div className={`${css.body} scroll`}>
        {call !== undefined ? <Body call={call} onOpen={onOpen} /> : error === null ? <Skeleton rows={10} height={28} /> : <Problem title="This call could not be read" error={error} onRetry={() => void refetch()} />}
      </div>
    </aside>
  );
}
