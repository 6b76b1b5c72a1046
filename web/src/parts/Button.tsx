import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import css from './Button.module.css';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `primary` for the main action, `danger` for ending something, `quiet` without a frame. */
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly small?: boolean;
  readonly icon?: ReactNode;
  /** Shortcut, shown beside the label. */
  readonly hint?: string;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** Button. Without children it needs an `aria-label`, which is also its tooltip. */
export function Button({ variant = 'plain', small = false, icon, hint, className, children, ...rest }: Props) {
  const isIconOnly = children === undefined || children === null;
  const classes = [css.button, css[variant], small && css.small, isIconOnly && css.bare, className];
  return (
    <button type="button" title={isIconOnly ? rest['aria-label'] : undefined} {...rest} className={classes.filter(Boolean).join(' ')}>
      {icon}
      {children}
      {hint !== undefined && <kbd aria-hidden="true">{hint}</kbd>}
    </button>
  );
}
