import { useQuery } from '@tanstack/react-query';
import { Maximize, Minus, Plus } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { get } from '../../api/client';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { Button } from '../../parts/Button';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { layOutGraph, NODE_HEIGHT_PX, NODE_WIDTH_PX } from './graphLayout';
import { COLUMN_NAMES, formatTaskNumber } from './moves';
import type { TaskGraph } from '../../api/types';
import type { TaskFilter } from './columns';
import css from './TaskGraph.module.css';

const REFRESH_INTERVAL_MS = 2000;
const ZOOM_STEP = 1.25;
const [MIN_ZOOM, MAX_ZOOM] = [0.1, 2];

interface Viewport {
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

const shortenTitle = (title: string): string => (title.length > 28 ? `${title.slice(0, 27)}…` : title);

/** Dependency graph in layers from left to right. */
export default function TaskGraph({ filter, selected, href, onOpen }: Props) {
  const query = useQuery({
    queryKey: ['graph', filter.epic, filter.q],
    queryFn: ({ signal }) => get<TaskGraph>('/api/tasks/graph', { ...filter }, signal),
  });
  useRefreshOnEvents(matchKinds('task.'), [['graph']], REFRESH_INTERVAL_MS);
  const graph = query.data;
  // Layers depend only on nodes and edges, so a state change moves nothing.
  const shape = graph === undefined ? '' : JSON.stringify([graph.nodes.map((node) => node.number), graph.edges]);
  const layout = useMemo(() => (graph === undefined ? undefined : layOutGraph(graph)), [shape]);
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport>({ x: 0, y: 0, zoom: 1 });
  const dragStart = useRef<{ x: number; y: number } | null>(null);

  const fit = () => {
    const area = box.current?.getBoundingClientRect();
    if (area === undefined || layout === undefined || layout.width === 0) return;
    const zoom = Math.min(1, Math.max(MIN_ZOOM, Math.min(area.width / layout.width, area.height / layout.height)));
    setView({ zoom, x: Math.max(0, (area.width - layout.width * zoom) / 2), y: Math.max(0, (area.height - layout.height * zoom) / 2) });
  };
  useEffect(fit, [layout]);
  const zoomBy = (by: number) => {
    const area = box.current?.getBoundingClientRect();
    if (area === undefined) return;
    setView((before) => {
      const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, before.zoom * by));
      const ratio = zoom / before.zoom;
      const [x, y] = [area.width / 2, area.height / 2];
      return { zoom, x: x - (x - before.x) * ratio, y: y - (y - before.y) * ratio };
    });
  };
  const pan = (x: number, y: number) => setView((before) => ({ ...before, x: before.x + x, y: before.y + y }));
  useKeys({
    '+': () => zoomBy(ZOOM_STEP), '=': () => zoomBy(ZOOM_STEP), '-': () => zoomBy(1 / ZOOM_STEP), '0': fit,
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
    Escape: () => onOpen(null),
  });

  if (graph === undefined || layout === undefined) {
    return query.error === null ? <Skeleton rows={10} height={44} /> : <Problem error={query.error} title="The graph could not be read" onRetry={() => void query.refetch()} />;
  }
  if (graph.nodes.length === 0) {
    return <EmptyState title="No dependencies">A task that depends on another is drawn to the right of it. Set dependencies when you create a task, or in its panel.</EmptyState>;
  }
  const positions = new Map(layout.nodes.map((position) => [position.number, position]));
  return (
    <div className={css.graph}>
      <div
        ref={box}
        className={css.canvas}
        onPointerDown={(event) => {
          if (event.target instanceof Element && event.target.closest('a') !== null) return;
          dragStart.current = { x: event.clientX, y: event.clientY };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (dragStart.current === null) return;
          pan(event.clientX - dragStart.current.x, event.clientY - dragStart.current.y);
          dragStart.current = { x: event.clientX, y: event.clientY };
        }}
        onPointerUp={() => (dragStart.current = null)}
        onPointerCancel={() => (dragStart.current = null)}
      >
        <svg width="100%" height="100%" role="group" aria-label={`${graph.nodes.length} tasks and their dependencies`}>
          <defs>
            <marker id="graph-tip" viewBox="0 0 6 6" refX="5" refY="3" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto">
              <path d="M0 0 6 3 0 6z" className={css.tip} />
            </marker>
          </defs>
          <g transform={`translate(${view.x} ${view.y}) scale(${view.zoom})`}>
            {layout.edges.map((edge) => (
              <path key={`${edge.from}-${edge.to}`} d={edge.d} className={edge.from === selected || edge.to === selected ? css.strong : css.edge} markerEnd="url(#graph-tip)" />
            ))}
            {graph.nodes.map((node) => {
              const position = positions.get(node.number);
              if (position === undefined) return null;
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
                  <rect x={position.x} y={position.y} width={NODE_WIDTH_PX} height={NODE_HEIGHT_PX} rx={6}>
                    <title>{`${node.title} (priority ${node.priority})`}</title>
                  </rect>
                  <circle cx={position.x + 14} cy={position.y + 14} r={4} />
                  <text x={position.x + 24} y={position.y + 18} className={css.number}>
                    {formatTaskNumber(node.number)} · {COLUMN_NAMES[node.column]}
                  </text>
                  <text x={position.x + 10} y={position.y + 35}>
                    {shortenTitle(node.title)}
                  </text>
                </a>
              );
            })}
          </g>
        </svg>
      </div>
      <div className={css.tools} role="group" aria-label="Zoom">
        {graph.truncated && <span className="dim small">The first 500; filter to see others.</span>}
        <Button small icon={<Minus size={14} />} aria-label="Zoom out" onClick={() => zoomBy(1 / ZOOM_STEP)} />
        <span className={css.zoom}>{Math.round(view.zoom * 100)}%</span>
        <Button small icon={<Plus size={14} />} aria-label="Zoom in" onClick={() => zoomBy(ZOOM_STEP)} />
        <Button small icon={<Maximize size={14} />} aria-label="Fit to the window" onClick={fit} />
      </div>
    </div>
  );
}
