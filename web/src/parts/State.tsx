import {
  CircleCheck, CircleDashed, CirclePlay, CircleSlash, CircleStop, CircleX, Eye, Hourglass, LoaderCircle,
  MessageCircleQuestionMark, TimerOff, Unplug, Wallet, type LucideIcon,
} from 'lucide-react';
import type { AgentState } from '../api/types';
import css from './State.module.css';

interface Look {
  readonly word: string;
  readonly icon: LucideIcon;
  readonly over: boolean;
}

/** Icon and label of every state; the colour comes from `data-state` (see styles/base.css). */
export const STATES: Readonly<Record<AgentState, Look>> = {
  queued: { word: 'Queued', icon: CircleDashed, over: false },
  starting: { word: 'Starting', icon: LoaderCircle, over: false },
  running: { word: 'Running', icon: CirclePlay, over: false },
  waiting_review: { word: 'In review', icon: Eye, over: false },
  waiting_input: { word: 'Needs you', icon: MessageCircleQuestionMark, over: false },
  limited: { word: 'Limited', icon: Hourglass, over: false },
  succeeded: { word: 'Done', icon: CircleCheck, over: true },
  failed: { word: 'Failed', icon: CircleX, over: true },
  timed_out: { word: 'Timed out', icon: TimerOff, over: true },
  over_budget: { word: 'Over budget', icon: Wallet, over: true },
  killed: { word: 'Killed', icon: CircleStop, over: true },
  abandoned: { word: 'Abandoned', icon: CircleSlash, over: true },
  lost: { word: 'Lost', icon: Unplug, over: true },
};

/** Returns the look of a state; one that this page does not know looks like `lost`. */
export function lookOf(state: string): Look {
  return state in STATES ? STATES[state as AgentState] : { ...STATES.lost, word: state };
}

export function isOver(state: string): boolean {
  return lookOf(state).over;
}

/** Icon without a visible label; screen readers read the label. */
export function StateIcon({ state, size = 14 }: { readonly state: string; readonly size?: number }) {
  const { icon: Icon, word } = lookOf(state);
  return (
    <span data-state={state} className={css.icon} title={word}>
      <Icon size={size} aria-hidden="true" className={state === 'starting' ? css.spin : undefined} />
      <span className="sr-only">{word}</span>
    </span>
  );
}

interface MarkProps {
  readonly state: string;
  /** Replaces the label: "In review, 2 of 3". */
  readonly word?: string;
  readonly pill?: boolean;
}

/** Icon and label of a state. */
export function StateMark({ state, word, pill = false }: MarkProps) {
  const look = lookOf(state);
  const Icon = look.icon;
  return (
    <span data-state={state} className={pill ? `${css.mark} ${css.pill}` : css.mark} title={state}>
      <Icon size={14} aria-hidden="true" className={state === 'starting' ? css.spin : undefined} />
      {word ?? look.word}
    </span>
  );
}
