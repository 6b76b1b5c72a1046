// How a task is moved from the board: which tool, and what must be asked first. Whether it may is the server's to say; here
// is only what no tool could be asked for.
import type { ColumnName, TaskRow } from '../../api/types';

export const COLUMN_WORDS: Readonly<Record<ColumnName, string>> = {
  blocked: 'Blocked', ready: 'Ready', inProgress: 'In progress', inReview: 'In review', done: 'Done',
};

/** Something that must be said with a move. */
export interface Question {
  readonly title: string;
  readonly label: string;
  readonly verb: string;
  readonly needed: boolean;
}

/** A call that moves a task. */
export interface Way {
  readonly kind: 'way';
  readonly tool: string;
  readonly input: (words: string) => Readonly<Record<string, unknown>>;
  readonly asks: Question | null;
  /** Whether the task stands there at once; approved work waits for its turn to be merged. */
  readonly atOnce: boolean;
  /** What is told when it is done. */
  readonly told: string;
}

/** Why there is no call that could. */
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

/** What is said of a task that an agent goes on with. */
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

/** Gives up wanting a task. */
export const cancel = (row: TaskRow): Way => session(row, 'cancelled', `${name(row.number)} is cancelled.${goesOn(row)}`);

/** Gives what was given to an agent back to everybody. */
export const takeBack = (row: TaskRow): Way => office(row, 'PENDING', `${name(row.number)} is unassigned.`);

/** How a task gets to a column; nothing where it stands there. */
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
