import { Ban, Circle, CircleCheck, CirclePlay, CircleX, Eye, Lock, UserRound, type LucideIcon } from 'lucide-react';
import type { ColumnName } from '../../api/types';
import type { StoredState } from './columns';
import css from './TaskMark.module.css';

interface TaskStateLook {
  readonly label: string;
  readonly icon: LucideIcon;
  /** Agent state with the same colour. */
  readonly colourState: string;
}

const TASK_STATE_LOOKS: Readonly<Record<StoredState, TaskStateLook>> = {
  pending: { label: 'Ready', icon: Circle, colourState: 'queued' },
  assigned: { label: 'Assigned', icon: UserRound, colourState: 'queued' },
  in_progress: { label: 'In progress', icon: CirclePlay, colourState: 'running' },
  review: { label: 'In review', icon: Eye, colourState: 'waiting_review' },
  blocked: { label: 'Blocked', icon: Lock, colourState: 'queued' },
  completed: { label: 'Done', icon: CircleCheck, colourState: 'succeeded' },
  failed: { label: 'Failed', icon: CircleX, colourState: 'failed' },
  cancelled: { label: 'Cancelled', icon: Ban, colourState: 'killed' },
};

export const COLUMN_ICONS: Readonly<Record<ColumnName, LucideIcon>> = {
  blocked: Lock, ready: Circle, inProgress: CirclePlay, inReview: Eye, done: CircleCheck,
};

interface Props {
  readonly state: StoredState;
  /** Column of the board. A task with open dependencies is shown as blocked, whatever its state. */
  readonly column: ColumnName;
  /** Hides the label visually; screen readers still read it. */
  readonly bare?: boolean;
}

/** State of a task: icon, label and colour. */
export function TaskMark({ state, column, bare = false }: Props) {
  const look = column === 'blocked' ? TASK_STATE_LOOKS.blocked : TASK_STATE_LOOKS[state];
  const Icon = look.icon;
  return (
    <span data-state={look.colourState} className={css.mark} title={state}>
      <Icon size={14} aria-hidden="true" />
      <span className={bare ? 'sr-only' : undefined}>{look.label}</span>
    </span>
  );
}
