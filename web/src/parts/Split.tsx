import { useRef, useState, type ReactNode } from 'react';
import css from './Split.module.css';

interface Props {
  /** Key of the stored size. */
  readonly name: string;
  /** Initial share of the first pane, from 0 to 1. */
  readonly first?: number;
  readonly label: string;
  readonly children: readonly [ReactNode, ReactNode];
}

const LEAST = 0.2;

function remembered(name: string, otherwise: number): number {
  const kept = Number.parseFloat(localStorage.getItem(`adjutant.split.${name}`) ?? '');
  return kept >= LEAST && kept <= 1 - LEAST ? kept : otherwise;
}

/** Two panes with a divider that can be dragged or moved with the arrow keys. */
export function Split({ name, first = 0.5, label, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(() => remembered(name, first));
  const change = (next: number) => {
    const kept = Math.min(1 - LEAST, Math.max(LEAST, next));
    setShare(kept);
    localStorage.setItem(`adjutant.split.${name}`, kept.toFixed(3));
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
        aria-valuemin={LEAST * 100}
        aria-valuemax={(1 - LEAST) * 100}
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
