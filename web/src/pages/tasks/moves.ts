// Moves of tasks on the board: the tool to call, and the text to ask for first. The server decides
// whether a move is allowed; only moves without a tool are refused here.
import type { ColumnName, TaskRow } from '../../api/types';

export const COLUMN_WORDS: Readonly<Record<ColumnName, string>> = {
  blocked: 'Blocked', ready: 'Ready', inProgress: 'In progress', inReview: 'In review', done: 'Done',
};

/** Text to ask for before a move. */
export interface Question {
  readonly title: string;
  readonly label: string;
  readonly verb: string;
  readonly needed: boolean;
}

/** A tool call that moves a task. */
export interface Way {
  readonly kind: 'way';
  readonly tool: string;
  readonly input: (words: string) => Readonly<Record<string, unknown>>;
  readonly asks: Question | null;
  /** True if the task changes its column at once; approved work is merged first. */
  readonly atOnce: boolean;
  /** Message after the move. */
  readonly told: string;
}

/** A move that no tool can make. */
export interface NoWay {
  readonly kind: 'none';
  readonly why: string;
}

export const name = (number: number): string => `TAS-${number}`;

function session(row: TaskRow, status: string, told: string): Way {
  return { kind: 'way', tool: 'mcp__session__task-update', input: () => ({ id: name(row.number), status }), asks: null, atOnce: true, told };
}

function office(row: TaskRow, status: string, told: string, asks: Question | null = null): Way {
  const input = (words: string) => ({ taskId: name(row.number), status, ...(words === '' ? {} : { reason: words }) });
  return { kind: 'way', tool: 'mcp__task__update_status', input, asks, atOnce: true, told };
}

/** Notes that a live agent keeps working on the task. */
function goesOn(row: TaskRow): string {
  const live = row.agent !== null && ['starting', 'running', 'waiting_review', 'waiting_input', 'limited'].includes(row.agent.state);
  return live ? ` ${row.agent.role} ${row.agent.short} continues until it receives an instruction or is killed.` : '';
}

/** Completes a task without a review. */
export function force(row: TaskRow): Way {
  return {
    kind: 'way',
    tool: 'mcp__supervisor__force_complete_task',
    input: (reason) => ({ taskId: name(row.number), reason }),
    asks: { title: `Complete ${name(row.number)} without a merge?`, label: 'Reason', verb: 'Complete', needed: true },
    atOnce: true,
    told: `${name(row.number)} is completed. Its branch is unchanged.`,
  };
}

/** Cancels a task. */
export const cancel = (row: TaskRow): Way => session(row, 'cancelled', `${name(row.number)} is cancelled.${goesOn(row)}`);

/** Unassigns a task. */
export const takeBack = (row: TaskRow): Way => office(row, 'PENDING', `${name(row.number)} is unassigned.`);

/** Finds the move to a column; returns null if the task is already there. */
export function wayTo(row: TaskRow, to: ColumnName): Way | NoWay | null {
  if (to === row.column) return null;
  const moved = `${name(row.number)} moved to ${COLUMN_WORDS[to]}.`;
  const begun = row.storedState !== 'pending' && row.storedState !== 'assigned';
  switch (to) {
    case 'ready': {
      if (begun) return session(row, 'remaining', moved + goesOn(row));
      const open = row.needs.filter((need) => !need.done).map((need) => name(need.number));
      return { kind: 'none', why: `${name(row.number)} waits for ${open.join(', ')}. It becomes ready automatically when they are completed or cancelled.` };
    }
    case 'inProgress':
      if (row.column !== 'inReview') return session(row, 'in_progress', moved);
      return {
        kind: 'way',
        tool: 'mcp__supervisor__request_changes',
        input: (feedback) => ({ taskId: name(row.number), feedback }),
        asks: { title: `Send ${name(row.number)} back?`, label: 'Changes to make', verb: 'Send back', needed: true },
        atOnce: true,
        told: `${name(row.number)} was sent back.`,
      };
    case 'blocked':
      if (!begun) return session(row, 'blocked', moved);
      return office(row, 'BLOCKED', moved + goesOn(row), { title: `Block ${name(row.number)}?`, label: 'Reason (optional)', verb: 'Block', needed: false });
    case 'inReview':
      return office(row, 'REVIEW', moved);
    case 'done':
      if (row.column !== 'inReview') return session(row, 'completed', moved + goesOn(row));
      return {
        kind: 'way',
        tool: 'mcp__supervisor__approve_task',
        input: () => ({ taskId: name(row.number) }),
        asks: null,
        atOnce: false,
        told: `${name(row.number)} is approved. It completes when its branch is merged.`,
      };
  }
}
