import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { findRow, type Board } from './board';
import { path, route, type Lane, type Spot } from './router';
import css from './Board.module.css';

/** Limit of drawn lines. Above it only the lines of the selected task are drawn. */
const MOST = 200;

interface Line {
  readonly key: string;
  readonly d: string;
  readonly strong: boolean;
}

interface Props {
  readonly columns: RefObject<HTMLDivElement | null>;
  readonly board: Board;
  readonly selected: number | null;
}

interface Seen {
  readonly lanes: readonly Lane[];
  readonly spots: ReadonlyMap<number, Spot>;
}

/** Locates the visible cards. */
function look(area: HTMLElement): Seen {
  const origin = area.getBoundingClientRect();
  const lanes: Lane[] = [];
  const spots = new Map<number, Spot>();
  for (const column of area.querySelectorAll<HTMLElement>('[data-lane]')) {
    const box = column.getBoundingClientRect();
    const view = column.querySelector('[data-scroller]')?.getBoundingClientRect();
    const gaps: number[] = [];
    for (const card of view === undefined ? [] : column.querySelectorAll<HTMLElement>('[data-number]')) {
      const rect = card.getBoundingClientRect();
      if (view === undefined || rect.bottom < view.top + 8 || rect.top > view.bottom - 8) continue;
      gaps.push(rect.bottom - origin.top + 5);
      const middle = (rect.top + rect.bottom) / 2;
      if (middle < view.top || middle > view.bottom) continue;
      spots.set(Number(card.dataset['number']), { lane: lanes.length, top: rect.top - origin.top, bottom: rect.bottom - origin.top });
    }
    lanes.push({ left: box.left - origin.left, right: box.right - origin.left, gaps });
  }
  return { lanes, spots };
}

function draw(area: HTMLElement, board: Board, strong: ReadonlySet<number>): Line[] {
  const { lanes, spots } = look(area);
  const pairs: { from: number; to: number }[] = [];
  for (const to of spots.keys()) {
    for (const need of findRow(board, to)?.needs ?? []) if (spots.has(need.number)) pairs.push({ from: need.number, to });
  }
  const isStrong = (pair: { from: number; to: number }) => strong.has(pair.from) || strong.has(pair.to);
  const drawn = pairs.length > MOST ? pairs.filter(isStrong) : pairs;
  return drawn
    .flatMap((pair, shift) => {
      const [from, to] = [spots.get(pair.from), spots.get(pair.to)];
      if (from === undefined || to === undefined) return [];
      return [{ key: `${pair.from}-${pair.to}`, d: path(route(lanes, from, to, shift)), strong: isStrong(pair) }];
    })
    .sort((a, b) => Number(a.strong) - Number(b.strong));
}

/** Lines from tasks to the tasks that depend on them; strong for a selected or hovered task. */
export function Lines({ columns, board, selected }: Props) {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const hovered = useRef<number | null>(null);
  const frame = useRef(0);
  const latest = useRef({ board, selected });
  latest.current = { board, selected };

  const redraw = useCallback(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const area = columns.current;
      if (area === null) return;
      const now = latest.current;
      const strong = new Set([now.selected, hovered.current].filter((one): one is number => one !== null));
      const next = draw(area, now.board, strong);
      setLines((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
    });
  }, [columns]);

  useLayoutEffect(redraw, [redraw, board, selected]);
  useEffect(() => {
    const area = columns.current;
    if (area === null) return;
    const point = (event: Event) => {
      const card = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-number]') : null;
      const number = card === null ? null : Number(card.dataset['number']);
      if (number === hovered.current) return;
      hovered.current = number;
      redraw();
    };
    // Scrolling mounts and unmounts cards. The lines are outside of the observed element.
    const changes = new MutationObserver(redraw);
    changes.observe(area, { childList: true, subtree: true });
    const size = new ResizeObserver(redraw);
    size.observe(area);
    area.addEventListener('scroll', redraw, { capture: true, passive: true });
    area.addEventListener('pointerover', point);
    area.addEventListener('pointerleave', point);
    return () => {
      changes.disconnect();
      size.disconnect();
      area.removeEventListener('scroll', redraw, { capture: true });
      area.removeEventListener('pointerover', point);
      area.removeEventListener('pointerleave', point);
      cancelAnimationFrame(frame.current);
    };
  }, [columns, redraw]);

  return (
    <svg className={css.lines} aria-hidden="true" data-lines={lines.length}>
      <defs>
        {(['faint', 'strong'] as const).map((kind) => (
          <marker key={kind} id={`tip-${kind}`} viewBox="0 0 6 6" refX="5" refY="3" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto">
            <path d="M0 0 6 3 0 6z" className={css[`${kind}Tip`]} />
          </marker>
        ))}
      </defs>
      {lines.map((line) => (
        <path key={line.key} d={line.d} className={line.strong ? css.strong : css.faint} markerEnd={`url(#tip-${line.strong ? 'strong' : 'faint'})`} data-edge={line.key} />
      ))}
    </svg>
  );
}
