import { useEffect, useState } from 'react';
import css from './Skeleton.module.css';

/** True after a delay, so that fast responses show no placeholder. */
export function useDelay(ms = 150): boolean {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsOver(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isOver;
}

/** Placeholder with rows of the final size. */
export function Skeleton({ rows = 8, height = 32 }: { readonly rows?: number; readonly height?: number }) {
  const isDelayed = useDelay();
  return (
    <div className={css.rows} role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} style={{ height }}>
          {isDelayed && <i style={{ width: `${30 + ((row * 37) % 45)}%` }} />}
        </div>
      ))}
    </div>
  );
}
