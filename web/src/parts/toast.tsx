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
let next = 1;
const watchers = new Set<() => void>();

function set(change: readonly Toast[]): void {
  toasts = change;
  for (const watcher of watchers) watcher();
}

/** Shows a confirmation, optionally with an undo button. */
export function toast(text: string, undo: (() => void) | null = null): void {
  const id = next++;
  set([...toasts.slice(-2), { id, text, undo }]);
  setTimeout(() => set(toasts.filter((one) => one.id !== id)), 6000);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
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
