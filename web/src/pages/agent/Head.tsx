import { ChevronRight, CircleStop, Ellipsis, GitBranch, GitPullRequest, Mail, Play, SquareTerminal } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { post } from '../../api/client';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { useNow } from '../../parts/clock';
import { money, roughly, short, span } from '../../parts/format';
import { Menu, type MenuItem } from '../../parts/Menu';
import { Meter } from '../../parts/Meter';
import { StateMark, isOver } from '../../parts/State';
import { toast } from '../../parts/toast';
import { openStart } from '../../shell/open';
import { mailTo, type Asking } from '../crew/Dock';
import type { CrewRow } from '../../api/types';
import { actsOf, nameOf, stateWord } from '../crew/words';
import type { AgentDetails, AgentStory } from '../../api/types';
import css from './Head.module.css';

/** Ancestors of the agent and its own name. */
export function Crumbs({ story, agent }: { readonly story: AgentStory | undefined; readonly agent: AgentDetails }) {
  return (
    <div className={css.crumbs}>
      <Link href="/crew">Crew</Link>
      {story?.crumbs.map((crumb) => (
        <Fragment key={crumb.id}>
          <ChevronRight size={12} aria-hidden="true" />
          <Link href={`/agents/${crumb.id}`}>{crumb.role}</Link>
        </Fragment>
      ))}
      <ChevronRight size={12} aria-hidden="true" />
      <h1>
        {story === undefined ? agent.role : nameOf(story.row)} <span className={css.id}>{agent.id.slice(-5)}</span>
      </h1>
    </div>
  );
}

/** State with the waiting time of an open question. */
function State({ row }: { readonly row: CrewRow }) {
  const now = useNow();
  const asked = row.state === 'waiting_input' && row.asks !== null ? `Needs you for ${roughly(now - Date.parse(row.asks.since))}` : undefined;
  const word = asked ?? stateWord(row);
  return <StateMark state={row.state} pill {...(word === undefined ? {} : { word })} />;
}

interface HeadProps {
  readonly story: AgentStory;
  readonly agent: AgentDetails;
  readonly onAsk: (what: Asking) => void;
}

function useMore({ story, agent, onAsk }: HeadProps): readonly MenuItem[] {
  const readOnly = useReadOnly();
  const [, go] = useLocation();
  const { row } = story;
  const acts = actsOf(row);
  const copy = (text: string, what: string) => void navigator.clipboard?.writeText(text).then(() => toast(`${what} copied`));
  const items: MenuItem[] = [
    { label: 'Copy the agent id', onSelect: () => copy(row.id, 'The id is') },
    { label: 'Copy the command that shows its output', onSelect: () => copy(`adjutant logs ${row.id} -f`, 'The command is') },
    { label: 'Its calls in the record', onSelect: () => go(`/record?q=${encodeURIComponent(`agent:${row.id}`)}`) },
  ];
  if (story.branch !== null) items.push({ label: 'Its reviews', onSelect: () => go(`/reviews/${row.id}`) });
  if (agent.resumedFrom !== null) items.push({ label: 'Open the agent whose conversation it continues', onSelect: () => go(`/agents/${agent.resumedFrom}`) });
  if (!readOnly && acts.abandon) items.push({ label: 'Abandon its work…', danger: true, onSelect: () => onAsk('abandon') });
  if (!readOnly && row.kind === 'enlisted' && !isOver(row.state)) {
    const discharge = () => post(`/api/agents/${row.id}/discharge`).then(() => toast(`${nameOf(row)} ${row.short} was discharged`), (error: Error) => toast(error.message));
    items.push({ label: 'Discharge, and void its token', danger: true, onSelect: () => void discharge() });
  }
  return items;
}

/** Title of the work, and the actions on the agent. */
export function Head(props: HeadProps) {
  const { story, agent, onAsk } = props;
  const { row } = story;
  const readOnly = useReadOnly();
  const [, go] = useLocation();
  const acts = actsOf(row);
  const more = useMore(props);
  const icon = (Icon: typeof Play) => <Icon size={14} aria-hidden="true" />;
  return (
    <div className={css.head}>
      <State row={row} />
      <h2 className={`${css.title} cut`}>
        {row.task?.title ?? agent.summary ?? nameOf(row)}
        {row.task !== null && (
          <Link href={`/tasks?task=TAS-${row.task.number}`} className={css.number}>
            TAS-{row.task.number}
          </Link>
        )}
      </h2>
      <div className={css.acts}>
        {!readOnly && (
          <Button icon={icon(Mail)} onClick={() => go(mailTo(row))}>
            Mail
          </Button>
        )}
        {acts.attach && (
          <Button icon={icon(SquareTerminal)} onClick={() => onAsk('attach')}>
            Attach
          </Button>
        )}
        {!readOnly && acts.resume && (
          <Button icon={icon(Play)} onClick={() => openStart({ resume: row.id })}>
            Resume
          </Button>
        )}
        {!readOnly && acts.kill && (
          <Button look="danger" icon={icon(CircleStop)} onClick={() => onAsk('kill')}>
            {row.liveBelow > 0 ? 'Kill tree' : 'Kill'}
          </Button>
        )}
        <Menu label="More" trigger={<Button icon={icon(Ellipsis)} aria-label="More" />} items={more} />
      </div>
    </div>
  );
}

function Fact({ name, value, max, text }: { readonly name: string; readonly value: number; readonly max: number | null; readonly text: ReactNode }) {
  return (
    <span>
      <span className="dim">{name}</span> {text}
      {max !== null && <Meter value={value} max={max} label={name} text={`${name} used`} className={css.meter ?? ''} />}
    </span>
  );
}

const of = (spent: string, cap: string | null): string => (cap === null ? spent : `${spent} of ${cap}`);

/** Model, branch, claim and pull request, and the use of each limit. */
export function Facts({ story, agent }: { readonly story: AgentStory; readonly agent: AgentDetails }) {
  const now = useNow();
  const { row, claim, branch, pull } = story;
  const started = Date.parse(agent.startedAt);
  const ran = row.state === 'queued' ? 0 : Math.max(0, (agent.finishedAt === null ? now : Date.parse(agent.finishedAt)) - started);
  const whole = agent.deadlineAt === null ? null : Math.max(1, Date.parse(agent.deadlineAt) - started);
  const caps = agent.budget?.caps;
  const usd = agent.budget?.spent.usd ?? agent.costUsd;
  const tokens = agent.budget?.spent.tokens ?? agent.tokens.input + agent.tokens.output;
  const [capUsd, capTokens] = [caps?.usd ?? null, caps?.tokens ?? null];
  return (
    <div className={css.facts} tabIndex={0} role="group" aria-label="Facts and limits">
      <span>
        <span className="dim">Runs on</span> {[agent.kind, agent.model].filter((one) => one !== null).join(', ')}
      </span>
      {branch !== null && (
        <span title={agent.worktree?.path}>
          <GitBranch size={12} className="dim" aria-label="Branch" />
          <span className="mono cut">{branch}</span>
        </span>
      )}
      {claim !== null && (
        <span>
          <span className="dim">Claim</span> fence {claim.number}
        </span>
      )}
      {pull !== null && (
        <a href={pull.url} rel="noreferrer noopener" target="_blank" className="row">
          <GitPullRequest size={12} className="dim" aria-hidden="true" />#{pull.number} {pull.state}
        </a>
      )}
      <Fact name="Money" value={usd ?? 0} max={capUsd} text={usd === null && capUsd === null ? 'not known' : of(money(usd ?? 0), capUsd === null ? null : money(capUsd))} />
      <Fact name="Tokens" value={tokens} max={capTokens} text={of(short(tokens), capTokens === null ? null : short(capTokens))} />
      <Fact name="Time" value={ran} max={whole} text={of(span(ran), whole === null ? null : span(whole))} />
    </div>
  );
}
