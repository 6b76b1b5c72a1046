// Short confirmations. Errors are shown in place of the content instead.
import { useSyncExternalStore } from 'react';
import { Button } from './Button';
import css from './toast.module.css';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | null;
}

let toasts: readonly Toast[] = [];
let nextId = 1;
const subscribers = new Set<() => void>();

function setToasts(next: readonly Toast[]): void {
  toasts = next;
  for (const subscriber of subscribers) subscriber();
}

/** Shows a confirmation, optionally with an undo button. */
export function showToast(text: string, undo: (() => void) | null = null): void {
  const id = nextId++;
  setToasts([...toasts.slice(-2), { id, text, undo }]);
  setTimeout(() => setToasts(toasts.filter((one) => one.id !== id)), 6000);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (subscriber) => {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    () => toasts,
  );
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {shown.map((one) => (
        <div key={one.id} className={css.toast}>
          <span>{one.text}</span>
          {one.undo !== null && (
            <Button small onClick={one.undo}>
              Undo
            </Button>
          )}
        </div>
      ))}
    </div>
  );
}
