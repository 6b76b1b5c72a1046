import { useQuery } from '@tanstack/react-query';
import { Maximize, Minus, Plus } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { get } from '../../api/client';
import { kinds, useRefresh } from '../../api/live';
import { Button } from '../../parts/Button';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { arrange, HEIGHT, WIDTH } from './layout';
import { COLUMN_WORDS, name } from './moves';
import type { TaskGraph } from '../../api/types';
import type { TaskFilter } from './columns';
import css from './TaskGraph.module.css';

const EVERY = 2000;
const STEP = 1.25;
const [LEAST, MOST] = [0.1, 2];

interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

interface Props {
  readonly filter: TaskFilter;
  readonly selected: number | null;
  readonly href: (number: number) => string;
  readonly onOpen: (number: number | null) => void;
}

const cut = (title: string): string => (title.length > 28 ? `${title.slice(0, 27)}…` : title);

/** Dependency graph in layers from left to right. */
export default function TaskGraph({ filter, selected, href, onOpen }: Props) {
  const query = useQuery({
    queryKey: ['graph', filter.epic, filter.q],
    queryFn: ({ signal }) => get<TaskGraph>('/api/tasks/graph', { ...filter }, signal),
  });
  useRefresh(kinds('task.'), [['graph']], EVERY);
  const graph = query.data;
  // Layers depend only on nodes and edges, so a state change moves nothing.
  const shape = graph === undefined ? '' : JSON.stringify([graph.nodes.map((node) => node.number), graph.edges]);
  const drawn = useMemo(() => (graph === undefined ? undefined : arrange(graph)), [shape]);
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, zoom: 1 });
  const drag = useRef<{ x: number; y: number } | null>(null);

  const fit = () => {
    const area = box.current?.getBoundingClientRect();
    if (area === undefined || drawn === undefined || drawn.width === 0) return;
    const zoom = Math.min(1, Math.max(LEAST, Math.min(area.width / drawn.width, area.height / drawn.height)));
    setView({ zoom, x: Math.max(0, (area.width - drawn.width * zoom) / 2), y: Math.max(0, (area.height - drawn.height * zoom) / 2) });
  };
  useEffect(fit, [drawn]);
  const zoomBy = (by: number) => {
    const area = box.current?.getBoundingClientRect();
    if (area === undefined) return;
    setView((before) => {
      const zoom = Math.min(MOST, Math.max(LEAST, before.zoom * by));
      const ratio = zoom / before.zoom;
      const [x, y] = [area.width / 2, area.height / 2];
      return { zoom, x: x - (x - before.x) * ratio, y: y - (y - before.y) * ratio };
    });
  };
  const pan = (x: number, y: number) => setView((before) => ({ ...before, x: before.x + x, y: before.y + y }));
  useKeys({
    '+': () => zoomBy(STEP), '=': () => zoomBy(STEP), '-': () => zoomBy(1 / STEP), '0': fit,
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
    Escape: () => onOpen(null),
  });

  if (graph === undefined || drawn === undefined) {
    return query.error === null ? <Skeleton rows={10} height={44} /> : <Problem error={query.error} title="The graph could not be read" onRetry={() => void query.refetch()} />;
  }
  if (graph.nodes.length === 0) {
    return <Empty title="No dependencies">A task that depends on another is drawn to the right of it. Set dependencies when you create a task, or in its panel.</Empty>;
  }
  const places = new Map(drawn.nodes.map((place) => [place.number, place]));
  return (
    <div className={css.graph}>
      <div
        ref={box}
        className={css.canvas}
        onPointerDown={(event) => {
          if (event.target instanceof Element && event.target.closest('a') !== null) return;
          drag.current = { x: event.clientX, y: event.clientY };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (drag.current === null) return;
          pan(event.clientX - drag.current.x, event.clientY - drag.current.y);
          drag.current = { x: event.clientX, y: event.clientY };
        }}
        onPointerUp={() => (drag.current = null)}
        onPointerCancel={() => (drag.current = null)}
      >
        <svg width="100%" height="100%" role="group" aria-label={`${graph.nodes.length} tasks and their dependencies`}>
          <defs>
            <marker id="graph-tip" viewBox="0 0 6 6" refX="5" refY="3" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto">
              <path d="M0 0 6 3 0 6z" className={css.tip} />
            </marker>
          </defs>
          <g transform={`translate(${view.x} ${view.y}) scale(${view.zoom})`}>
            {drawn.edges.map((edge) => (
              <path key={`${edge.from}-${edge.to}`} d={edge.d} className={edge.from === selected || edge.to === selected ? css.strong : css.edge} markerEnd="url(#graph-tip)" />
            ))}
            {graph.nodes.map((node) => {
              const place = places.get(node.number);
              if (place === undefined) return null;
              return (
                <a
                  key={node.number}
                  href={href(node.number)}
                  aria-current={node.number === selected ? 'true' : undefined}
                  data-column={node.column}
                  data-number={node.number}
                  className={css.node}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                    event.preventDefault();
                    onOpen(node.number);
                  }}
                >
                  <rect x={place.x} y={place.y} width={WIDTH} height={HEIGHT} rx={6}>
                    <title>{`${node.title} (priority ${node.priority})`}</title>
                  </rect>
                  <circle cx={place.x + 14} cy={place.y + 14} r={4} />
                  <text x={place.x + 24} y={place.y + 18} className={css.number}>
                    {name(node.number)} · {COLUMN_WORDS[node.column]}
                  </text>
                  <text x={place.x + 10} y={place.y + 35}>
                    {cut(node.title)}
                  </text>
                </a>
              );
            })}
          </g>
        </svg>
      </div>
      <div className={css.tools} role="group" aria-label="Zoom">
        {graph.truncated && <span className="dim small">The first 500; filter to see others.</span>}
        <Button small icon={<Minus size={14} />} aria-label="Zoom out" onClick={() => zoomBy(1 / STEP)} />
        <span className={css.zoom}>{Math.round(view.zoom * 100)}%</span>
        <Button small icon={<Plus size={14} />} aria-label="Zoom in" onClick={() => zoomBy(STEP)} />
        <Button small icon={<Maximize size={14} />} aria-label="Show all of it" onClick={fit} />
      </div>
    </div>
  );
}
