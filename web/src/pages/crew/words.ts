// Texts for the rows and dialogs of agents.
import { money, ordinal, plural, shortId, time } from '../../parts/format';
import { isOver } from '../../parts/State';
import type { CrewRow } from '../../api/types';

export interface Doing {
  /** Tool name, shown in bold before the text. */
  readonly tool: string | null;
  readonly text: string;
  /** True if the text is a question to the operator. */
  readonly asks: boolean;
}

/** Describes the current activity of an agent in one line. */
export function doingOf(row: CrewRow): Doing {
  const plain = (text: string): Doing => ({ tool: null, text, asks: false });
  switch (row.state) {
    case 'queued':
      return plain(row.queuePlace === null ? 'waits for a slot' : `${ordinal(row.queuePlace)} in line for a slot`);
    case 'starting':
      return plain('is being started');
    case 'waiting_input':
      return row.asks === null ? plain('waits for an answer') : { tool: null, text: `“${row.asks.subject}”`, asks: true };
    case 'waiting_review':
      return plain(reviewWords(row));
    case 'limited':
      return plain(`${row.model ?? row.kind} limit, resumes automatically${row.limitedUntil === null ? '' : ` at ${time(row.limitedUntil)}`}`);
    default:
      if (row.doing !== null) return { ...row.doing, asks: false };
      return plain(row.reason ?? '');
  }
}

function reviewWords(row: CrewRow): string {
  if (row.review === null) return 'waits for a review';
  const { iteration, max, reviewerId } = row.review;
  return `review ${iteration} of ${max}${reviewerId === null ? '' : ` with ${shortId(reviewerId)}`}`;
}

/** Describes the state, if there is more to say than its name. */
export function stateWord(row: CrewRow): string | undefined {
  if (row.state === 'waiting_review' && row.review !== null) return `In review, ${row.review.iteration} of ${row.review.max}`;
  if (row.state === 'limited' && row.limitedUntil !== null) return `Limited to ${time(row.limitedUntil)}`;
  if (row.state === 'queued' && row.queuePlace !== null) return `Queued, ${ordinal(row.queuePlace)} in line`;
  return undefined;
}

export interface Spent {
  readonly spent: number | null;
  readonly cap: number | null;
  /** True if the budget is only reserved and nothing of it is spent. */
  readonly aside: boolean;
}

/** Spending of an agent and its descendants, and their budget. */
export function spentOf(row: CrewRow): Spent {
  const spent = row.budget?.spentUsd ?? row.costUsd;
  const cap = row.budget?.usd ?? null;
  return { spent, cap, aside: row.state === 'queued' && cap !== null && (spent ?? 0) === 0 };
}

/** Describes spending and budget for the cost column. */
export function spentWords(row: CrewRow): string {
  const { spent, cap, aside } = spentOf(row);
  if (aside && cap !== null) return `${money(cap)} set aside`;
  if (spent === null) return cap === null ? '' : `of ${money(cap)}`;
  return cap === null ? money(spent) : `${money(spent)} of ${money(cap)}`;
}

/** Display name of the role, otherwise its name. */
export function nameOf(row: CrewRow): string {
  return row.displayName ?? row.role;
}

/** Label for an unusual kind or model; null for the default. */
export function chipOf(row: CrewRow): string | null {
  if (row.kind === 'enlisted') return 'enlisted';
  if (row.model !== null) return row.model;
  return row.kind === 'claude' ? null : row.kind;
}

export interface KillWords {
  readonly title: string;
  readonly verb: string;
  readonly lines: readonly string[];
}

/** Describes the consequences of a kill, in numbers. A kill also ends all descendants. */
export function killWords(row: CrewRow): KillWords {
  const who = `${nameOf(row)} ${row.short}`;
  const below = row.liveBelow;
  const all = below + 1;
  const lines = [
    below === 0 ? 'It is asked to end first, then ended by force.' : `It and the ${plural(below, 'live agent')} below it end, the deepest first.`,
    'Commits stay on their branches; uncommitted changes are saved on a rescue branch.',
  ];
  const { spent, cap } = spentOf(row);
  if (cap !== null) {
    const left = Math.max(0, cap - (spent ?? 0));
    lines.push(`${money(spent ?? 0)} of ${money(cap)} is spent; ${money(left)} goes back${row.parentId === null ? '' : ' to its parent'}.`);
  } else if (spent !== null) {
    lines.push(`${money(spent)} is spent.`);
  }
  if (row.task !== null) lines.push(`TAS-${row.task.number} is free for another agent.`);
  return {
    title: below === 0 ? `Kill ${who}?` : `Kill ${who} and its ${below}?`,
    verb: below === 0 ? 'Kill' : `Kill ${plural(all, 'agent')}`,
    lines,
  };
}

/** Actions that the agent's state and kind allow. */
export function actsOf(row: CrewRow): { readonly kill: boolean; readonly resume: boolean; readonly abandon: boolean; readonly attach: boolean } {
  const over = isOver(row.state);
  const ours = row.kind !== 'enlisted';
  return {
    kill: !over,
    resume: over && ours,
    abandon: !over && (row.state === 'waiting_review' || row.category === 'coding'),
    attach: !over && ours,
  };
}

/** Describes a row in one sentence, for screen readers. */
export function rowWords(row: CrewRow): string {
  const doing = doingOf(row);
  const task = row.task === null ? '' : `, TAS-${row.task.number} ${row.task.title}`;
  return `${nameOf(row)} ${row.short}${task}, ${[doing.tool, doing.text].filter(Boolean).join(' ')}`;
}
