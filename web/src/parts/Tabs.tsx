import { useId, type ReactNode } from 'react';
import css from './Tabs.module.css';

export interface Tab<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly count?: number | undefined;
}

interface Props<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly tabs: readonly Tab<T>[];
  readonly onChange: (value: T) => void;
  /** Content at the right of the tabs. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** Tabs of one view; the children are the open tab. */
export function Tabs<T extends string>({ label, value, tabs, onChange, aside, children }: Props<T>) {
  const id = useId();
  const move = (by: number, list: HTMLElement) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = (at + by + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (tab === undefined) return;
    onChange(tab.value);
    list.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <section className={css.tabs} aria-label={label}>
      <div className={css.bar}>
        <div
          role="tablist"
          aria-label={label}
          className={css.list}
          onKeyDown={(event) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (by === undefined) return;
            event.preventDefault();
            event.stopPropagation();
            move(by, event.currentTarget);
          }}
        >
          {tabs.map((tab) => (
            <button
              key={tab.value}
              type="button"
              role="tab"
              id={`${id}-${tab.value}`}
              aria-selected={tab.value === value}
              aria-controls={`${id}-panel`}
              tabIndex={tab.value === value ? 0 : -1}
              onClick={() => onChange(tab.value)}
            >
              {tab.label}
              {tab.count !== undefined && <span>{tab.count.toLocaleString('en-US')}</span>}
            </button>
          ))}
        </div>
        {aside}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} className={css.panel}>
        {children}
      </div>
    </section>
  );
}
