import { ArrowRight, GitMerge, Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { Elapsed } from '../../parts/Elapsed';
import { getStateLook } from '../../parts/State';
import { formatMoney, formatTime } from '../../parts/format';
import type { TaskAgent, TaskRow } from '../../api/types';
import { TaskMark } from './TaskMark';
import css from './Card.module.css';

/** Icon and text of an agent's state. */
function AgentStatus({ agent, children }: { readonly agent: TaskAgent; readonly children: ReactNode }) {
  const Icon = getStateLook(agent.state).icon;
  return (
    <span data-state={agent.state} className={css.state} title={`${agent.role} ${agent.short}: ${agent.state}`}>
      <Icon size={12} aria-hidden="true" />
      {children}
    </span>
  );
}

function describeAgent(agent: TaskAgent): ReactNode {
  const { short, review } = agent;
  switch (agent.state) {
    case 'waiting_input':
      return `${short} needs you`;
    case 'waiting_review':
      return review === null ? `${short} in review` : `review ${review.iteration} of ${review.max}`;
    case 'limited':
      return `${short}, until ${agent.limitedUntil === null ? '?' : formatTime(agent.limitedUntil)}`;
    case 'running':
      return (
        <>
          {short}, <Elapsed from={agent.since} rough />
        </>
      );
    default:
      return `${short} ${getStateLook(agent.state).label.toLowerCase()}`;
  }
}

function renderReviewStatus(row: TaskRow): ReactNode {
  const { agent, merge } = row;
  if (merge !== null) {
    const labels = { queued: 'queued to merge', merging: 'merging', held: 'merge held', merged: 'merged', sent_back: 'sent back' };
    return (
      <span className={css.state} data-state={merge === 'held' ? 'waiting_input' : 'waiting_review'}>
        <GitMerge size={12} aria-hidden="true" />
        {labels[merge]}
      </span>
    );
  }
  if (agent !== null && (agent.state === 'waiting_review' || agent.state === 'waiting_input')) return <AgentStatus agent={agent}>{describeAgent(agent)}</AgentStatus>;
  const isAtLimit = agent?.review !== null && agent?.review !== undefined && agent.review.iteration >= agent.review.max;
  const Icon = getStateLook('waiting_input').icon;
  return (
    <span data-state="waiting_input" className={css.state}>
      <Icon size={12} aria-hidden="true" />
      {isAtLimit ? `limit reached, ${agent?.review?.iteration} of ${agent?.review?.max}` : 'waits for you'}
    </span>
  );
}

/** Footer of a card: its agent or the reason why it has none, and its cost. */
export function CardFooter({ row, isNext }: { readonly row: TaskRow; readonly isNext: boolean }) {
  const openNeeds = row.needs.filter((need) => !need.done).length;
  let status: ReactNode;
  if (row.column === 'done') status = <TaskMark state={row.storedState} column="done" />;
  else if (row.column === 'inReview') status = renderReviewStatus(row);
  else if (row.agent !== null) status = <AgentStatus agent={row.agent}>{describeAgent(row.agent)}</AgentStatus>;
  else if (row.column === 'blocked') {
    status = (
      <>
        <Lock size={12} aria-hidden="true" />
        {openNeeds > 0 ? `waits for ${openNeeds}` : 'blocked'}
      </>
    );
  } else if (row.column === 'ready' && isNext) {
    status = (
      <>
        <ArrowRight size={12} aria-hidden="true" />
        claimed next
      </>
    );
  } else status = row.session === 'default' ? (row.column === 'inProgress' ? 'moved manually' : 'unassigned') : row.session;
  return (
    <span className={css.foot}>
      {status}
      <span className="grow" />
      {row.costUsd !== null && <span>{formatMoney(row.costUsd)}</span>}
    </span>
  );
}
