import { Check, CirclePlay, CircleX, ShieldX, type LucideIcon } from 'lucide-react';
import type { RecordOutcome } from '../../api/types';
import css from './OutcomeMark.module.css';

/** Icon of each outcome; its colour is that of the agent state with the same meaning. */
const OUTCOME_LOOKS: Readonly<Record<RecordOutcome, { readonly icon: LucideIcon; readonly state: string }>> = {
  done: { icon: Check, state: 'succeeded' },
  failed: { icon: CircleX, state: 'failed' },
  denied: { icon: ShieldX, state: 'waiting_input' },
  begun: { icon: CirclePlay, state: 'running' },
};

interface Props {
  readonly outcome: RecordOutcome;
  /** Replaces the name of the outcome. */
  readonly label?: string;
}

export function OutcomeMark({ outcome, label }: Props) {
  const { icon: Icon, state } = OUTCOME_LOOKS[outcome];
  return (
    <span data-state={state} className={css.mark}>
      <Icon size={13} aria-hidden="true" />
      {label ?? outcome}
    </span>
  );
}
