// Details of one call: input, output, neighbours, and its place in the chain.
import { Check, ChartGantt, Link2, RotateCw, ShieldX, X } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Json } from '../../parts/Code';
import { Timestamp } from '../../parts/Elapsed';
import { formatCount, formatLatency } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { openTool } from '../../shell/overlay';
import { OutcomeMark } from './OutcomeMark';
import { useCall } from './queries';
import { splitToolName, getCallerName } from './RecordTable';
import type { RecordedCall } from '../../api/types';
import { TraceBars } from './TraceBars';
import css from './CallPanel.module.css';

interface Props {
  readonly number: string;
  /** Null inside a dialog, which has its own close button. */
  readonly onClose: (() => void) | null;
  readonly onOpen: (number: number) => void;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isToolInput(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Abbreviates a hash to groups of four digits. */
function formatHash(text: string): string {
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

function CallFacts({ call, onOpen }: { readonly call: RecordedCall; readonly onOpen: (number: number) => void }) {
  const { who: caller, standing, error, pair } = call;
  const label = error === null ? call.outcome : error.code;
  const isEndCall = pair !== null && pair.number > call.number;
  return (
    <dl className={css.facts}>
      <dt>Caller</dt>
      <dd>
        {caller.agentId === null ? getCallerName(caller) : <Link href={`/agents/${caller.agentId}`}>{caller.operator ? 'operator' : caller.role}</Link>}
        {caller.short !== null && <code className="dim"> {caller.short}</code>}
        {standing !== null && !caller.operator && `, ${standing.category}, depth ${standing.depth}`}
        {caller.operator && caller.agentId !== null && ` for ${caller.role ?? 'an agent'}`}
      </dd>
      <dt>Outcome</dt>
      <dd>
        <OutcomeMark outcome={call.outcome} label={label} />
        {call.durationMs !== null && <span className="dim"> in {formatLatency(call.durationMs)}</span>}
      </dd>
      <dt>Time</dt>
      <dd>
        <Timestamp at={call.at} seconds />
      </dd>
      {(pair !== null || call.outcome === 'begun') && (
        <>
          <dt>{isEndCall || pair === null ? 'Ended' : 'Began'}</dt>
          <dd>
            {pair === null ? (
              'not yet'
            ) : (
              <>
                <Timestamp at={pair.at} seconds /> as{' '}
                <button type="button" className={css.other} onClick={() => onOpen(pair.number)}>
                  {formatCount(pair.number)}
                </button>
                {isEndCall && <OutcomeMark outcome={pair.outcome} />}
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

function ChainFacts({ chain, number }: { readonly chain: RecordedCall['chain']; readonly number: number }) {
  return (
    <>
      <dl className={css.chain}>
        <dt>before</dt>
        <dd title={chain.before}>{chain.before === '' ? 'missing' : formatHash(chain.before)}</dd>
        <dd className={css.place}>{formatCount(chain.previous)}</dd>
        <dt>this</dt>
        <dd title={chain.this}>{formatHash(chain.this)}</dd>
        <dd className={css.place} data-state={chain.fits ? 'succeeded' : 'failed'} aria-label={`Call ${formatCount(number)} ${chain.fits ? 'valid' : 'invalid'}`}>
          {chain.fits ? <Check size={12} aria-hidden="true" /> : <ShieldX size={12} aria-hidden="true" />}
          {chain.fits ? 'valid' : 'invalid'}
        </dd>
      </dl>
      {chain.problem !== null && <p role="alert" className={css.broken}>This row was changed: {chain.problem}. The rows after it cannot be trusted either.</p>}
    </>
  );
}

function CallBody({ call, onOpen }: { readonly call: RecordedCall; readonly onOpen: (number: number) => void }) {
  const [input, output] = useMemo(() => [parseJson(call.wholeInput), parseJson(call.output)], [call.wholeInput, call.output]);
  return (
    <>
      <CallFacts call={call} onOpen={onOpen} />
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
        <Section title={call.who.operator ? 'Calls of the operator around it' : 'Calls of the agent around it'} icon={<ChartGantt size={12} aria-hidden="true" />}>
          <TraceBars neighbours={call.near} number={call.number} onOpen={onOpen} />
        </Section>
      )}
      <Section title="Chain" icon={<Link2 size={12} aria-hidden="true" />}>
        <ChainFacts chain={call.chain} number={call.number} />
      </Section>
    </>
  );
}

export function CallPanel({ number, onClose, onOpen }: Props) {
  const { data: call, error, refetch } = useCall(number);
  const readOnly = useReadOnly();
  const input = call === undefined ? null : parseJson(call.wholeInput);
  const repeatableInput = call !== undefined && !readOnly && call.tool.startsWith('mcp__') && isToolInput(input) ? input : null;
  return (
    <aside className={css.panel} aria-label={`Call ${number}`}>
      <div className={css.head}>
        <code className="dim">{formatCount(Number(number))}</code>
        <h2 className="cut" title={call?.tool}>
          {call === undefined ? '' : splitToolName(call.tool)[1]}
        </h2>
        <span className="grow" />
        {repeatableInput !== null && call !== undefined && (
          <Button small icon={<RotateCw size={12} aria-hidden="true" />} onClick={() => openTool(call.tool, repeatableInput)}>
            Run again
          </Button>
        )}
        {onClose !== null && <Button small variant="quiet" icon={<X size={14} aria-hidden="true" />} aria-label="Close" onClick={onClose} />}
      </div>
      <div className={`${css.body} scroll`}>
        {call !== undefined ? <CallBody call={call} onOpen={onOpen} /> : error === null ? <Skeleton rows={10} height={28} /> : <Problem title="This call could not be read" error={error} onRetry={() => void refetch()} />}
      </div>
    </aside>
  );
}
