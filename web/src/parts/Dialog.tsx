import { X } from 'lucide-react';
import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Button } from './Button';
import css from './Dialog.module.css';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** `sheet` slides in from the side, or from below on a phone. */
  readonly variant?: 'dialog' | 'sheet';
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

/** Modal dialog over the browser's `<dialog>`, which traps the focus. Open while mounted. */
export function Dialog({ title, onClose, variant = 'dialog', footer, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect runs before the node is removed, so closing can restore the focus.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      className={css[variant]}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      // Keys pressed in the dialog must not reach the page's shortcuts.
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div className={css.body}>
        <header>
          <h2 id={id}>{title}</h2>
          <Button variant="quiet" small icon={<X size={14} />} aria-label="Close" onClick={onClose} />
        </header>
        <div className={css.content}>{children}</div>
        {footer !== undefined && <footer>{footer}</footer>}
      </div>
    </dialog>
  );
}
