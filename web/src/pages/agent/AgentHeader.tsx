import { ChevronRight, CircleStop, Ellipsis, GitBranch, GitPullRequest, Mail, Play, SquareTerminal } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { post } from '../../api/client';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { useNow } from '../../parts/clock';
import { formatMoney, formatRoughDuration, formatCompact, formatDuration } from '../../parts/format';
import { Menu, type MenuItem } from '../../parts/Menu';
import { Meter } from '../../parts/Meter';
import { StateMark, hasEnded } from '../../parts/State';
import { showToast } from '../../parts/toast';
import { openStartAgent } from '../../shell/overlay';
import { buildMailLink, type AgentAction } from '../crew/Dock';
import type { CrewRow } from '../../api/types';
import { getAllowedActions, getAgentName, describeState } from '../crew/agentText';
import type { AgentDetails, AgentStory } from '../../api/types';
import css from './AgentHeader.module.css';

/** Ancestors of the agent and its own name. */
export function Breadcrumbs({ story, agent }: { readonly story: AgentStory | undefined; readonly agent: AgentDetails }) {
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
        {story === undefined ? agent.role : getAgentName(story.row)} <span className={css.id}>{agent.id.slice(-5)}</span>
      </h1>
    </div>
  );
}

/** State with the waiting time of an open question. */
function StateBadge({ row }: { readonly row: CrewRow }) {
  const now = useNow();
  const waiting = row.state === 'waiting_input' && row.asks !== null ? `Needs you for ${formatRoughDuration(now - Date.parse(row.asks.since))}` : undefined;
  const label = waiting ?? describeState(row);
  return <StateMark state={row.state} pill {...(label === undefined ? {} : { label })} />;
}

interface AgentHeaderProps {
  readonly story: AgentStory;
  readonly agent: AgentDetails;
  readonly onAction: (action: AgentAction) => void;
}

function useMoreActions({ story, agent, onAction }: AgentHeaderProps): readonly MenuItem[] {
  const readOnly = useReadOnly();
  const [, navigate] = useLocation();
  const { row } = story;
  const allowed = getAllowedActions(row);
  const copy = (text: string, subject: string) => void navigator.clipboard?.writeText(text).then(() => showToast(`${subject} copied`));
  const items: MenuItem[] = [
    { label: 'Copy agent id', onSelect: () => copy(row.id, 'Agent id') },
    { label: 'Copy log command', onSelect: () => copy(`adjutant logs ${row.id} -f`, 'Log command') },
    { label: 'Show its calls in the record', onSelect: () => navigate(`/record?q=${encodeURIComponent(`agent:${row.id}`)}`) },
  ];
  if (story.branch !== null) items.push({ label: 'Show its reviews', onSelect: () => navigate(`/reviews/${row.id}`) });
  if (agent.resumedFrom !== null) items.push({ label: 'Open the resumed agent', onSelect: () => navigate(`/agents/${agent.resumedFrom}`) });
  if (!readOnly && allowed.abandon) items.push({ label: 'Abandon its work…', danger: true, onSelect: () => onAction('abandon') });
  if (!readOnly && row.kind === 'enlisted' && !hasEnded(row.state)) {
    const discharge = () => post(`/api/agents/${row.id}/discharge`).then(() => showToast(`${getAgentName(row)} ${row.short} was discharged`), (error: Error) => showToast(error.message));
    items.push({ label: 'Discharge and revoke its token', danger: true, onSelect: () => void discharge() });
  }
  return items;
}

/** Title of the work, and the actions on the agent. */
export function AgentHeader(props: AgentHeaderProps) {
  const { story, agent, onAction } = props;
  const { row } = story;
  const readOnly = useReadOnly();
  const [, navigate] = useLocation();
  const allowed = getAllowedActions(row);
  const moreItems = useMoreActions(props);
  const renderIcon = (Icon: typeof Play) => <Icon size={14} aria-hidden="true" />;
  return (
    <div className={css.head}>
      <StateBadge row={row} />
      <h2 className={`${css.title} cut`}>
        {row.task?.title ?? agent.summary ?? getAgentName(row)}
        {row.task !== null && (
          <Link href={`/tasks?task=TAS-${row.task.number}`} className={css.number}>
            TAS-{row.task.number}
          </Link>
        )}
      </h2>
      <div className={css.acts}>
        {!readOnly && (
          <Button icon={renderIcon(Mail)} onClick={() => navigate(buildMailLink(row))}>
            Mail
          </Button>
        )}
        {allowed.attach && (
          <Button icon={renderIcon(SquareTerminal)} onClick={() => onAction('attach')}>
            Attach
          </Button>
        )}
        {!readOnly && allowed.resume && (
          <Button icon={renderIcon(Play)} onClick={() => openStartAgent({ resume: row.id })}>
            Resume
          </Button>
        )}
        {!readOnly && allowed.kill && (
          <Button variant="danger" icon={renderIcon(CircleStop)} onClick={() => onAction('kill')}>
            {row.liveBelow > 0 ? 'Kill tree' : 'Kill'}
          </Button>
        )}
        <Menu label="More" trigger={<Button icon={renderIcon(Ellipsis)} aria-label="More" />} items={moreItems} />
      </div>
    </div>
  );
}

function LimitFact({ name, value, max, text }: { readonly name: string; readonly value: number; readonly max: number | null; readonly text: ReactNode }) {
  return (
    <span>
      <span className="dim">{name}</span> {text}
      {max !== null && <Meter value={value} max={max} label={name} text={`${name} used`} className={css.meter ?? ''} />}
    </span>
  );
}

const formatUsed = (spent: string, cap: string | null): string => (cap === null ? spent : `${spent} of ${cap}`);

/** Model, branch, claim and pull request, and the use of each limit. */
export function AgentFacts({ story, agent }: { readonly story: AgentStory; readonly agent: AgentDetails }) {
  const now = useNow();
  const { row, claim, branch, pull } = story;
  const started = Date.parse(agent.startedAt);
  const elapsed = row.state === 'queued' ? 0 : Math.max(0, (agent.finishedAt === null ? now : Date.parse(agent.finishedAt)) - started);
  const limit = agent.deadlineAt === null ? null : Math.max(1, Date.parse(agent.deadlineAt) - started);
  const caps = agent.budget?.caps;
  const spentUsd = agent.budget?.spent.usd ?? agent.costUsd;
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
      <LimitFact name="Money" value={spentUsd ?? 0} max={capUsd} text={spentUsd === null && capUsd === null ? 'unknown' : formatUsed(formatMoney(spentUsd ?? 0), capUsd === null ? null : formatMoney(capUsd))} />
      <LimitFact name="Tokens" value={tokens} max={capTokens} text={formatUsed(formatCompact(tokens), capTokens === null ? null : formatCompact(capTokens))} />
      <LimitFact name="Time" value={elapsed} max={limit} text={formatUsed(formatDuration(elapsed), limit === null ? null : formatDuration(limit))} />
    </div>
  );
}
