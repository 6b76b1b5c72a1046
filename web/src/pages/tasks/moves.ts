// Moves of tasks on the board: the tool to call, and the text to ask for first. The server decides
// whether a move is allowed; only moves without a tool are refused here.
import type { ColumnName, TaskRow } from '../../api/types';

export const COLUMN_NAMES: Readonly<Record<ColumnName, string>> = {
  blocked: 'Blocked', ready: 'Ready', inProgress: 'In progress', inReview: 'In review', done: 'Done',
};

/** Text to ask for before a move. */
export interface MoveQuestion {
  readonly title: string;
  readonly label: string;
  readonly verb: string;
  readonly isRequired: boolean;
}

/** A tool call that moves a task. */
export interface TaskMove {
  readonly kind: 'move';
  readonly tool: string;
  readonly input: (answer: string) => Readonly<Record<string, unknown>>;
  readonly question: MoveQuestion | null;
  /** True if the task changes its column at once; approved work is merged first. */
  readonly isImmediate: boolean;
  /** Message after the move. */
  readonly doneText: string;
}

/** A move that no tool can make. */
export interface ImpossibleMove {
  readonly kind: 'impossible';
  readonly reason: string;
}

export const formatTaskNumber = (number: number): string => `TAS-${number}`;

function buildSessionMove(row: TaskRow, status: string, doneText: string): TaskMove {
  return { kind: 'move', tool: 'mcp__session__task-update', input: () => ({ id: formatTaskNumber(row.number), status }), question: null, isImmediate: true, doneText };
}

function buildOfficeMove(row: TaskRow, status: string, doneText: string, question: MoveQuestion | null = null): TaskMove {
  const input = (answer: string) => ({ taskId: formatTaskNumber(row.number), status, ...(answer === '' ? {} : { reason: answer }) });
  return { kind: 'move', tool: 'mcp__task__update_status', input, question, isImmediate: true, doneText };
}

/** Notes that a live agent keeps working on the task. */
function describeLiveAgent(row: TaskRow): string {
  const isLive = row.agent !== null && ['starting', 'running', 'waiting_review', 'waiting_input', 'limited'].includes(row.agent.state);
  return isLive ? ` ${row.agent.role} ${row.agent.short} continues until it receives an instruction or is killed.` : '';
}

/** Completes a task without a review. */
export function buildForceComplete(row: TaskRow): TaskMove {
  return {
    kind: 'move',
    tool: 'mcp__supervisor__force_complete_task',
    input: (reason) => ({ taskId: formatTaskNumber(row.number), reason }),
    question: { title: `Complete ${formatTaskNumber(row.number)} without a merge?`, label: 'Reason', verb: 'Complete', isRequired: true },
    isImmediate: true,
    doneText: `${formatTaskNumber(row.number)} is completed. Its branch is unchanged.`,
  };
}

/** Cancels a task. */
export const buildCancel = (row: TaskRow): TaskMove => buildSessionMove(row, 'cancelled', `${formatTaskNumber(row.number)} is cancelled.${describeLiveAgent(row)}`);

/** Unassigns a task. */
export const buildUnassign = (row: TaskRow): TaskMove => buildOfficeMove(row, 'PENDING', `${formatTaskNumber(row.number)} is unassigned.`);

/** Finds the move to a column; returns null if the task is already there. */
export function findMove(row: TaskRow, to: ColumnName): TaskMove | ImpossibleMove | null {
  if (to === row.column) return null;
  const movedText = `${formatTaskNumber(row.number)} moved to ${COLUMN_NAMES[to]}.`;
  const isStarted = row.storedState !== 'pending' && row.storedState !== 'assigned';
  switch (to) {
    case 'ready': {
      if (isStarted) return buildSessionMove(row, 'remaining', movedText + describeLiveAgent(row));
      const openNeeds = row.needs.filter((need) => !need.done).map((need) => formatTaskNumber(need.number));
      return { kind: 'impossible', reason: `${formatTaskNumber(row.number)} waits for ${openNeeds.join(', ')}. It becomes ready automatically when they are completed or cancelled.` };
    }
    case 'inProgress':
      if (row.column !== 'inReview') return buildSessionMove(row, 'in_progress', movedText);
      return {
        kind: 'move',
        tool: 'mcp__supervisor__request_changes',
        input: (feedback) => ({ taskId: formatTaskNumber(row.number), feedback }),
        question: { title: `Send ${formatTaskNumber(row.number)} back?`, label: 'Changes to make', verb: 'Send back', isRequired: true },
        isImmediate: true,
        doneText: `${formatTaskNumber(row.number)} was sent back.`,
      };
    case 'blocked':
      if (!isStarted) return buildSessionMove(row, 'blocked', movedText);
      return buildOfficeMove(row, 'BLOCKED', movedText + describeLiveAgent(row), { title: `Block ${formatTaskNumber(row.number)}?`, label: 'Reason (optional)', verb: 'Block', isRequired: false });
    case 'inReview':
      return buildOfficeMove(row, 'REVIEW', movedText);
    case 'done':
      if (row.column !== 'inReview') return buildSessionMove(row, 'completed', movedText + describeLiveAgent(row));
      return {
        kind: 'move',
        tool: 'mcp__supervisor__approve_task',
        input: () => ({ taskId: formatTaskNumber(row.number) }),
        question: null,
        isImmediate: false,
        doneText: `${formatTaskNumber(row.number)} is approved. It completes when its branch is merged.`,
      };
  }
}
