import { X } from 'lucide-react';
import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Button } from './Button';
import css from './Dialog.module.css';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** `sheet` comes from the side, and from below on a phone. */
  readonly form?: 'dialog' | 'sheet';
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** What must be settled first. The browser's own `<dialog>` keeps the focus inside and the rest away. It is there while it is drawn. */
export function Dialog({ title, onClose, form = 'dialog', foot, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the node is gone: closing gives the focus back to where it was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      className={css[form]}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
      // What is typed in here is not for the page behind.
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div className={css.body}>
        <header>
          <h2 id={id}>{title}</h2>
          <Button look="quiet" small icon={<X size={14} />} aria-label="Close" onClick={onClose} />
        </header>
        <div className={css.content}>{children}</div>
        {foot !== undefined && <footer>{foot}</footer>}
      </div>
    </dialog>
  );
}
