import { useId, type ReactNode } from 'react';
import css from './Field.module.css';

interface Props {
  readonly label: string;
  /** Description in one line. */
  readonly help?: ReactNode;
  /** Error of the field. */
  readonly error?: string | null | undefined;
  /** Renders the control, which must use these properties. */
  readonly children: (control: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean; className: string }) => ReactNode;
}

/** Form control with label, description and error. */
export function Field({ label, help, error, children }: Props) {
  const id = useId();
  const descriptionIds = [help !== undefined && `${id}-help`, Boolean(error) && `${id}-error`].filter(Boolean).join(' ');
  const control = {
    id,
    'aria-describedby': descriptionIds === '' ? undefined : descriptionIds,
    'aria-invalid': Boolean(error),
    className: css.control ?? '',
  };
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children(control)}
      {help !== undefined && (
        <p id={`${id}-help`} className={css.help}>
          {help}
        </p>
      )}
      {Boolean(error) && (
        <p id={`${id}-error`} className={css.error} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
