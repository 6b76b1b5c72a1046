import { Check, CirclePlay, CircleX, ShieldX, type LucideIcon } from 'lucide-react';
import type { RecordOutcome } from '../../api/types';
import css from './OutcomeMark.module.css';

/** Every outcome has a shape and a word; the colour is that of the state it is like. */
const LOOKS: Readonly<Record<RecordOutcome, { readonly icon: LucideIcon; readonly state: string }>> = {
  done: { icon: Check, state: 'succeeded' },
  failed: { icon: CircleX, state: 'failed' },
  denied: { icon: ShieldX, state: 'waiting_input' },
  begun: { icon: CirclePlay, state: 'running' },
};

interface Props {
  readonly outcome: RecordOutcome;
  /** What stands there instead of the plain word. */
  readonly word?: string;
}

export function OutcomeMark({ outcome, word }: Props) {
  const { icon: Icon, state } = LOOKS[outcome];
  return (
    <span data-state={state} className={css.mark}>
      <Icon size={13} aria-hidden="true" />
      {word ?? outcome}
    </span>
  );
}
