import { useRef, useState, type ReactNode } from 'react';
import css from './SplitPane.module.css';

interface Props {
  /** Key of the stored size. */
  readonly name: string;
  /** Initial share of the first pane, from 0 to 1. */
  readonly initialShare?: number;
  readonly label: string;
  readonly children: readonly [ReactNode, ReactNode];
}

const MIN_SHARE = 0.2;

function loadShare(name: string, fallback: number): number {
  const stored = Number.parseFloat(localStorage.getItem(`adjutant.split.${name}`) ?? '');
  return stored >= MIN_SHARE && stored <= 1 - MIN_SHARE ? stored : fallback;
}

/** Two panes with a divider that can be dragged or moved with the arrow keys. */
export function SplitPane({ name, initialShare = 0.5, label, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(() => loadShare(name, initialShare));
  const change = (next: number) => {
    const clamped = Math.min(1 - MIN_SHARE, Math.max(MIN_SHARE, next));
    setShare(clamped);
    localStorage.setItem(`adjutant.split.${name}`, clamped.toFixed(3));
  };
  return (
    <div ref={box} className={css.split} style={{ gridTemplateColumns: `minmax(0, ${share}fr) 1px minmax(0, ${1 - share}fr)` }}>
      <div className={css.part}>{children[0]}</div>
      <div
        className={css.line}
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={MIN_SHARE * 100}
        aria-valuemax={(1 - MIN_SHARE) * 100}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          change(share + by);
        }}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={(event) => {
          const area = box.current?.getBoundingClientRect();
          if (area !== undefined && event.currentTarget.hasPointerCapture(event.pointerId)) change((event.clientX - area.left) / area.width);
        }}
      />
      <div className={css.part}>{children[1]}</div>
    </div>
  );
}
