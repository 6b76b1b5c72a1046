// Layered layout of the dependency graph: dependencies at the left, dependents to their right. A
// node's layer is the longest path to it; within a layer nodes move towards their neighbours.
import type { TaskGraph } from '../../api/types';

export const WIDTH = 190;
export const HEIGHT = 44;
const BESIDE = 56;
const BELOW = 14;
const MARGIN = 16;
const SWEEPS = 6;

export interface Placed {
  readonly number: number;
  readonly x: number;
  readonly y: number;
}

export interface Drawn {
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly from: number; readonly to: number; readonly d: string }[];
  readonly width: number;
  readonly height: number;
}

type Edges = TaskGraph['edges'];
type Neighbours = ReadonlyMap<number, readonly number[]>;

function neighbours(edges: Edges, from: 'from' | 'to', to: 'from' | 'to'): Neighbours {
  const found = new Map<number, number[]>();
  for (const edge of edges) found.set(edge[from], [...(found.get(edge[from]) ?? []), edge[to]]);
  return found;
}

/** Assigns each node to the layer of its longest path. Cycles are cut at an arbitrary edge. */
function layersOf(numbers: readonly number[], before: Neighbours): number[][] {
  const depth = new Map<number, number>();
  const look = (number: number): number => {
    const known = depth.get(number);
    if (known !== undefined) return known;
    depth.set(number, 0);
    const longest = (before.get(number) ?? []).reduce((most, one) => Math.max(most, look(one) + 1), 0);
    depth.set(number, longest);
    return longest;
  };
  const layers: number[][] = [];
  for (const number of numbers) (layers[look(number)] ??= []).push(number);
  return Array.from(layers, (layer) => layer ?? []);
}

/** Moves the nodes of a layer towards the mean of their neighbours, without overlap. */
function settle(layer: number[], y: Map<number, number>, by: Neighbours): void {
  const wish = new Map(
    layer.map((number) => {
      const near = (by.get(number) ?? []).map((one) => y.get(one) ?? 0);
      return [number, near.length === 0 ? (y.get(number) ?? 0) : near.reduce((sum, one) => sum + one, 0) / near.length];
    }),
  );
  layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
  let free = Number.NEGATIVE_INFINITY;
  let pushed = 0;
  for (const number of layer) {
    const wanted = wish.get(number) ?? 0;
    const at = Math.max(wanted, free);
    pushed += at - wanted;
    y.set(number, at);
    free = at + HEIGHT + BELOW;
  }
  // Nodes are only pushed down; shifting the layer back by the mean keeps it centred.
  for (const number of layer) y.set(number, (y.get(number) ?? 0) - pushed / Math.max(1, layer.length));
}

export function arrange(graph: Pick<TaskGraph, 'nodes' | 'edges'>): Drawn {
  const [before, after] = [neighbours(graph.edges, 'to', 'from'), neighbours(graph.edges, 'from', 'to')];
  const layers = layersOf(graph.nodes.map((node) => node.number), before);
  const y = new Map(layers.flatMap((layer) => layer.map((number, at) => [number, at * (HEIGHT + BELOW)] as const)));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of layers) settle(layer, y, before);
    for (const layer of layers.toReversed()) settle(layer, y, after);
  }
  const top = Math.min(...y.values(), Number.POSITIVE_INFINITY);
  const place = new Map(
    layers.flatMap((layer, column) =>
      layer.map((number) => [number, { number, x: MARGIN + column * (WIDTH + BESIDE), y: MARGIN + Math.round((y.get(number) ?? 0) - top) }] as const),
    ),
  );
  const edges = graph.edges.flatMap(({ from, to }) => {
    const [a, b] = [place.get(from), place.get(to)];
    if (a === undefined || b === undefined) return [];
    const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
    return [{ from, to, d: `M${x1} ${y1}C${x1 + BESIDE / 2} ${y1} ${x2 - BESIDE / 2} ${y2} ${x2} ${y2}` }];
  });
  const nodes = graph.nodes.flatMap(({ number }) => place.get(number) ?? []);
  const right = Math.max(0, ...nodes.map((node) => node.x + WIDTH));
  const bottom = Math.max(0, ...nodes.map((node) => node.y + HEIGHT));
  return { nodes, edges, width: right + MARGIN, height: bottom + MARGIN };
}
