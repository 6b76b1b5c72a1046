import type { ReactNode } from 'react';
import { Copy } from './Copy';
import css from './Empty.module.css';

interface Props {
  readonly title: string;
  readonly children: ReactNode;
  /** The button that does the next step. */
  readonly action?: ReactNode;
  /** The same from a command line. */
  readonly commands?: readonly string[];
}

/** Nothing there yet: says what would be, and how it gets there. */
export function Empty({ title, children, action, commands = [] }: Props) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      <p className="mid">{children}</p>
      <div className={css.acts}>
        {action}
        {commands.map((command) => (
          <Copy key={command} text={command} />
        ))}
      </div>
    </div>
  );
}
