import { ArrowRight, GitMerge, Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { Elapsed } from '../../parts/Elapsed';
import { lookOf } from '../../parts/State';
import { money, time } from '../../parts/format';
import type { TaskAgent, TaskRow } from '../../api/types';
import { TaskMark } from './TaskMark';
import css from './Card.module.css';

/** Icon and text of an agent's state. */
function AgentWord({ agent, children }: { readonly agent: TaskAgent; readonly children: ReactNode }) {
  const Icon = lookOf(agent.state).icon;
  return (
    <span data-state={agent.state} className={css.state} title={`${agent.role} ${agent.short}: ${agent.state}`}>
      <Icon size={12} aria-hidden="true" />
      {children}
    </span>
  );
}

function agentWord(agent: TaskAgent): ReactNode {
  const { short, review } = agent;
  switch (agent.state) {
    case 'waiting_input':
      return `${short} needs you`;
    case 'waiting_review':
      return review === null ? `${short} in review` : `review ${review.iteration} of ${review.max}`;
    case 'limited':
      return `${short}, to ${agent.limitedUntil === null ? '?' : time(agent.limitedUntil)}`;
    case 'running':
      return (
        <>
          {short}, <Elapsed from={agent.since} rough />
        </>
      );
    default:
      return `${short} ${lookOf(agent.state).word.toLowerCase()}`;
  }
}

function inReview(row: TaskRow): ReactNode {
  const { agent, merge } = row;
  if (merge !== null) {
    const words = { queued: 'queued to merge', merging: 'merging', held: 'merge held', merged: 'merged', sent_back: 'sent back' };
    return (
      <span className={css.state} data-state={merge === 'held' ? 'waiting_input' : 'waiting_review'}>
        <GitMerge size={12} aria-hidden="true" />
        {words[merge]}
      </span>
    );
  }
  if (agent !== null && (agent.state === 'waiting_review' || agent.state === 'waiting_input')) return <AgentWord agent={agent}>{agentWord(agent)}</AgentWord>;
  const limit = agent?.review !== null && agent?.review !== undefined && agent.review.iteration >= agent.review.max;
  const Icon = lookOf('waiting_input').icon;
  return (
    <span data-state="waiting_input" className={css.state}>
      <Icon size={12} aria-hidden="true" />
      {limit ? `limit reached, ${agent?.review?.iteration} of ${agent?.review?.max}` : 'waits for you'}
    </span>
  );
}

/** Footer of a card: its agent or the reason why it has none, and its cost. */
export function CardFoot({ row, next }: { readonly row: TaskRow; readonly next: boolean }) {
  const open = row.needs.filter((need) => !need.done).length;
  let word: ReactNode;
  if (row.column === 'done') word = <TaskMark state={row.storedState} column="done" />;
  else if (row.column === 'inReview') word = inReview(row);
  else if (row.agent !== null) word = <AgentWord agent={row.agent}>{agentWord(row.agent)}</AgentWord>;
  else if (row.column === 'blocked') {
    word = (
      <>
        <Lock size={12} aria-hidden="true" />
        {open > 0 ? `waits for ${open}` : 'held up'}
      </>
    );
  } else if (row.column === 'ready' && next) {
    word = (
      <>
        <ArrowRight size={12} aria-hidden="true" />
        next to be claimed
      </>
    );
  } else word = row.session === 'default' ? (row.column === 'inProgress' ? 'moved by hand' : 'unassigned') : row.session;
  return (
    <span className={css.foot}>
      {word}
      <span className="grow" />
      {row.costUsd !== null && <span>{money(row.costUsd)}</span>}
    </span>
  );
}
