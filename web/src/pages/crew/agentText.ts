// Texts for the rows and dialogs of agents.
import { formatMoney, formatOrdinal, pluralize, shortenId, formatTime } from '../../parts/format';
import { hasEnded } from '../../parts/State';
import { DEFAULT_KIND } from '../../api/agentFacts';
import type { CrewRow } from '../../api/types';

export interface AgentActivity {
  /** Tool name, shown in bold before the text. */
  readonly tool: string | null;
  readonly text: string;
  /** True if the text is a question to the operator. */
  readonly isQuestion: boolean;
}

/** Describes the current activity of an agent in one line. */
export function describeActivity(row: CrewRow): AgentActivity {
  const plain = (text: string): AgentActivity => ({ tool: null, text, isQuestion: false });
  switch (row.state) {
    case 'queued':
      return plain(row.queuePlace === null ? 'waits for a slot' : `${formatOrdinal(row.queuePlace)} in line for a slot`);
    case 'starting':
      return plain('starting');
    case 'waiting_input':
      return row.asks === null ? plain('waits for an answer') : { tool: null, text: `“${row.asks.subject}”`, isQuestion: true };
    case 'waiting_review':
      return plain(describeReview(row));
    case 'limited':
      return plain(`${row.model ?? row.kind} limit, resumes automatically${row.limitedUntil === null ? '' : ` at ${formatTime(row.limitedUntil)}`}`);
    default:
      if (row.doing !== null) return { ...row.doing, isQuestion: false };
      return plain(row.reason ?? '');
  }
}

function describeReview(row: CrewRow): string {
  if (row.review === null) return 'waits for a review';
  const { iteration, max, reviewerId } = row.review;
  return `review ${iteration} of ${max}${reviewerId === null ? '' : ` with ${shortenId(reviewerId)}`}`;
}

/** Describes the state, if there is more to say than its name. */
export function describeState(row: CrewRow): string | undefined {
  if (row.state === 'waiting_review' && row.review !== null) return `In review, ${row.review.iteration} of ${row.review.max}`;
  if (row.state === 'limited' && row.limitedUntil !== null) return `Limited until ${formatTime(row.limitedUntil)}`;
  if (row.state === 'queued' && row.queuePlace !== null) return `Queued, ${formatOrdinal(row.queuePlace)} in line`;
  return undefined;
}

export interface AgentSpending {
  readonly spent: number | null;
  readonly cap: number | null;
  /** True if the budget is only reserved and nothing of it is spent. */
  readonly isReserved: boolean;
}

/** Spending of an agent and its descendants, and their budget. */
export function getSpending(row: CrewRow): AgentSpending {
  const spent = row.budget?.spentUsd ?? row.costUsd;
  const cap = row.budget?.usd ?? null;
  return { spent, cap, isReserved: row.state === 'queued' && cap !== null && (spent ?? 0) === 0 };
}

/** Describes spending and budget for the cost column. */
export function describeSpending(row: CrewRow): string {
  const { spent, cap, isReserved } = getSpending(row);
  if (isReserved && cap !== null) return `${formatMoney(cap)} reserved`;
  if (spent === null) return cap === null ? '' : `of ${formatMoney(cap)}`;
  return cap === null ? formatMoney(spent) : `${formatMoney(spent)} of ${formatMoney(cap)}`;
}

/** Display name of the role, otherwise its name. */
export function getAgentName(row: CrewRow): string {
  return row.displayName ?? row.role;
}

/** Label for an unusual kind or model; null for the default. */
export function getChip(row: CrewRow): string | null {
  if (row.kind === 'enlisted') return 'enlisted';
  if (row.model !== null) return row.model;
  return row.kind === DEFAULT_KIND ? null : row.kind;
}

export interface KillDescription {
  readonly title: string;
  readonly verb: string;
  readonly lines: readonly string[];
}

/** Describes the consequences of a kill, in numbers. A kill also ends all descendants. */
export function describeKill(row: CrewRow): KillDescription {
  const name = `${getAgentName(row)} ${row.short}`;
  const below = row.liveBelow;
  const total = below + 1;
  const lines = [
    below === 0 ? 'The agent is asked to end, then killed.' : `The agent and the ${pluralize(below, 'live agent')} below it end, deepest first.`,
    'Commits stay on their branches; uncommitted changes are saved on a rescue branch.',
  ];
  const { spent, cap } = getSpending(row);
  if (cap !== null) {
    const left = Math.max(0, cap - (spent ?? 0));
    lines.push(`${formatMoney(spent ?? 0)} of ${formatMoney(cap)} is spent; ${formatMoney(left)} is returned${row.parentId === null ? '' : ' to its parent'}.`);
  } else if (spent !== null) {
    lines.push(`${formatMoney(spent)} is spent.`);
  }
  if (row.task !== null) lines.push(`TAS-${row.task.number} is free for another agent.`);
  return {
    title: below === 0 ? `Kill ${name}?` : `Kill ${name} and ${pluralize(below, 'agent')} below it?`,
    verb: below === 0 ? 'Kill' : `Kill ${pluralize(total, 'agent')}`,
    lines,
  };
}

/** Actions that the agent's state and kind allow. */
export function getAllowedActions(row: CrewRow): { readonly kill: boolean; readonly resume: boolean; readonly abandon: boolean; readonly attach: boolean } {
  const isEnded = hasEnded(row.state);
  const isManaged = row.kind !== 'enlisted';
  return {
    kill: !isEnded,
    resume: isEnded && isManaged,
    abandon: !isEnded && (row.state === 'waiting_review' || row.category === 'coding'),
    attach: !isEnded && isManaged,
  };
}

/** Describes a row in one sentence, for screen readers. */
export function describeRow(row: CrewRow): string {
  const doing = describeActivity(row);
  const task = row.task === null ? '' : `, TAS-${row.task.number} ${row.task.title}`;
  return `${getAgentName(row)} ${row.short}${task}, ${[doing.tool, doing.text].filter(Boolean).join(' ')}`;
}
