import type { ReactNode } from 'react';
import { CopyButton } from './CopyButton';
import css from './EmptyState.module.css';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
  /** Button for the next step. */
  readonly action?: ReactNode;
  /** Commands with the same effect. */
  readonly commands?: readonly string[];
}

/** Placeholder of an empty list: explains its content and how to get some. */
export function EmptyState({ title, children, action, commands = [] }: Props) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      <p className="mid">{children}</p>
      <div className={css.acts}>
        {action}
        {commands.map((command) => (
          <CopyButton key={command} text={command} />
        ))}
      </div>
    </div>
  );
}
