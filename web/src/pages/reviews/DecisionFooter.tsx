// Footer with the reason and the buttons of a decision.
import type { ReactNode, Ref } from 'react';
import { useLiveState } from '../../api/live';
import css from './DecisionFooter.module.css';

interface Props {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly maxLength: number;
  readonly onChange: (value: string) => void;
  readonly box: Ref<HTMLTextAreaElement>;
  readonly problem: ReactNode;
  readonly children: ReactNode;
}

/** True while the server is unreachable, which disables all decisions. */
export function useIsDisconnected(): boolean {
  return useLiveState().phase === 'disconnected';
}

export function DecisionFooter({ label, placeholder, value, maxLength, onChange, box, problem, children }: Props) {
  return (
    <footer className={css.foot}>
      {problem}
      <div className={css.line}>
        <textarea
          ref={box}
          aria-label={label}
          placeholder={placeholder}
          rows={1}
          value={value}
          maxLength={maxLength}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <div className={css.acts}>{children}</div>
      </div>
    </footer>
  );
}
