import {
  CircleCheck, CircleDashed, CirclePlay, CircleSlash, CircleStop, CircleX, Eye, Hourglass, LoaderCircle,
  MessageCircleQuestionMark, TimerOff, Unplug, Wallet, type LucideIcon,
} from 'lucide-react';
import type { AgentState } from '../api/types';
import css from './State.module.css';

interface StateLook {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly isEnded: boolean;
}

/** Icon and label of every state; the colour comes from `data-state` (see styles/base.css). */
export const STATE_LOOKS: Readonly<Record<AgentState, StateLook>> = {
  queued: { label: 'Queued', icon: CircleDashed, isEnded: false },
  starting: { label: 'Starting', icon: LoaderCircle, isEnded: false },
  running: { label: 'Running', icon: CirclePlay, isEnded: false },
  waiting_review: { label: 'In review', icon: Eye, isEnded: false },
  waiting_input: { label: 'Needs you', icon: MessageCircleQuestionMark, isEnded: false },
  limited: { label: 'Limited', icon: Hourglass, isEnded: false },
  succeeded: { label: 'Done', icon: CircleCheck, isEnded: true },
  failed: { label: 'Failed', icon: CircleX, isEnded: true },
  timed_out: { label: 'Timed out', icon: TimerOff, isEnded: true },
  over_budget: { label: 'Over budget', icon: Wallet, isEnded: true },
  killed: { label: 'Killed', icon: CircleStop, isEnded: true },
  abandoned: { label: 'Abandoned', icon: CircleSlash, isEnded: true },
  lost: { label: 'Lost', icon: Unplug, isEnded: true },
};

/** Returns the look of a state; one that this page does not know looks like `lost`. */
export function getStateLook(state: string): StateLook {
  return state in STATE_LOOKS ? STATE_LOOKS[state as AgentState] : { ...STATE_LOOKS.lost, label: state };
}

export function hasEnded(state: string): boolean {
  return getStateLook(state).isEnded;
}

/** Icon without a visible label; screen readers read the label. */
export function StateIcon({ state, size = 14 }: { readonly state: string; readonly size?: number }) {
  const { icon: Icon, label } = getStateLook(state);
  return (
    <span data-state={state} className={css.icon} title={label}>
      <Icon size={size} aria-hidden="true" className={state === 'starting' ? css.spin : undefined} />
      <span className="sr-only">{label}</span>
    </span>
  );
}

interface StateMarkProps {
  readonly state: string;
  /** Replaces the label: "In review, 2 of 3". */
  readonly label?: string;
  readonly pill?: boolean;
}

/** Icon and label of a state. */
export function StateMark({ state, label, pill = false }: StateMarkProps) {
  const look = getStateLook(state);
  const Icon = look.icon;
  return (
    <span data-state={state} className={pill ? `${css.mark} ${css.pill}` : css.mark} title={state}>
      <Icon size={14} aria-hidden="true" className={state === 'starting' ? css.spin : undefined} />
      {label ?? look.label}
    </span>
  );
}
