import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { findRow, type Board } from './boardState';
import { formatPath, routeLine, type RouteLane, type CardSpot } from './lineRouter';
import css from './Board.module.css';

/** Limit of drawn lines. Above it only the lines of the selected task are drawn. */
const MAX_LINES = 200;

interface DependencyLine {
  readonly key: string;
  readonly d: string;
  readonly isStrong: boolean;
}

interface Props {
  readonly columns: RefObject<HTMLDivElement | null>;
  readonly board: Board;
  readonly selected: number | null;
}

interface VisibleCards {
  readonly lanes: readonly RouteLane[];
  readonly spots: ReadonlyMap<number, CardSpot>;
}

/** Locates the visible cards. */
function locateCards(area: HTMLElement): VisibleCards {
  const origin = area.getBoundingClientRect();
  const lanes: RouteLane[] = [];
  const spots = new Map<number, CardSpot>();
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

function buildLines(area: HTMLElement, board: Board, emphasized: ReadonlySet<number>): DependencyLine[] {
  const { lanes, spots } = locateCards(area);
  const pairs: { from: number; to: number }[] = [];
  for (const to of spots.keys()) {
    for (const need of findRow(board, to)?.needs ?? []) if (spots.has(need.number)) pairs.push({ from: need.number, to });
  }
  const isStrong = (pair: { from: number; to: number }) => emphasized.has(pair.from) || emphasized.has(pair.to);
  const drawn = pairs.length > MAX_LINES ? pairs.filter(isStrong) : pairs;
  return drawn
    .flatMap((pair, shift) => {
      const [from, to] = [spots.get(pair.from), spots.get(pair.to)];
      if (from === undefined || to === undefined) return [];
      return [{ key: `${pair.from}-${pair.to}`, d: formatPath(routeLine(lanes, from, to, shift)), isStrong: isStrong(pair) }];
    })
    .sort((a, b) => Number(a.isStrong) - Number(b.isStrong));
}

/** Lines from tasks to the tasks that depend on them; strong for a selected or hovered task. */
export function DependencyLines({ columns, board, selected }: Props) {
  const [lines, setLines] = useState<readonly DependencyLine[]>([]);
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
      const emphasized = new Set([now.selected, hovered.current].filter((one): one is number => one !== null));
      const next = buildLines(area, now.board, emphasized);
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
        <path key={line.key} d={line.d} className={line.isStrong ? css.strong : css.faint} markerEnd={`url(#tip-${line.isStrong ? 'strong' : 'faint'})`} data-edge={line.key} />
      ))}
    </svg>
  );
}
