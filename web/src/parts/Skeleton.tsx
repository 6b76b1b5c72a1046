import { useEffect, useState } from 'react';
import css from './Skeleton.module.css';

/** True after a delay, so that fast responses show no placeholder. */
export function useLate(ms = 150): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return late;
}

/** Placeholder with rows of the final size. */
export function Skeleton({ rows = 8, height = 32 }: { readonly rows?: number; readonly height?: number }) {
  const late = useLate();
  return (
    <div className={css.rows} role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} style={{ height }}>
          {late && <i style={{ width: `${30 + ((row * 37) % 45)}%` }} />}
        </div>
      ))}
    </div>
  );
}
