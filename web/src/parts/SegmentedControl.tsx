import type { ReactNode } from 'react';
import css from './SegmentedControl.module.css';

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
  readonly count?: number;
  readonly icon?: ReactNode;
}

interface Props<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
}

/** Choice of one of a few values. Arrow keys move, as in a radio group. */
export function SegmentedControl<T extends string>({ label, value, choices, onChange }: Props<T>) {
  const move = (by: number, group: HTMLElement) => {
    const at = choices.findIndex((choice) => choice.value === value);
    const next = choices[(at + by + choices.length) % choices.length];
    if (next === undefined) return;
    onChange(next.value);
    group.querySelectorAll<HTMLElement>('[role=radio]')[choices.indexOf(next)]?.focus();
  };
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className={css.group}
      onKeyDown={(event) => {
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        move(by, event.currentTarget);
      }}
    >
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          role="radio"
          aria-checked={choice.value === value}
          tabIndex={choice.value === value ? 0 : -1}
          onClick={() => onChange(choice.value)}
        >
          {choice.icon}
          {choice.label}
          {choice.count !== undefined && <b>{choice.count.toLocaleString('en-US')}</b>}
        </button>
      ))}
    </div>
  );
}
