// Layered layout of the dependency graph: dependencies at the left, dependents to their right. A
// node's layer is the longest path to it; within a layer nodes move towards their neighbours.
import type { TaskGraph } from '../../api/types';

export const NODE_WIDTH_PX = 190;
export const NODE_HEIGHT_PX = 44;
const LAYER_GAP_PX = 56;
const NODE_GAP_PX = 14;
const MARGIN_PX = 16;
const MAX_SWEEPS = 6;

export interface PlacedNode {
  readonly number: number;
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly { readonly from: number; readonly to: number; readonly d: string }[];
  readonly width: number;
  readonly height: number;
}

type GraphEdges = TaskGraph['edges'];
type NeighbourMap = ReadonlyMap<number, readonly number[]>;

function mapNeighbours(edges: GraphEdges, from: 'from' | 'to', to: 'from' | 'to'): NeighbourMap {
  const map = new Map<number, number[]>();
  for (const edge of edges) map.set(edge[from], [...(map.get(edge[from]) ?? []), edge[to]]);
  return map;
}

/** Assigns each node to the layer of its longest path. Cycles are cut at an arbitrary edge. */
function assignLayers(numbers: readonly number[], before: NeighbourMap): number[][] {
  const depth = new Map<number, number>();
  const measureDepth = (number: number): number => {
    const known = depth.get(number);
    if (known !== undefined) return known;
    depth.set(number, 0);
    const longest = (before.get(number) ?? []).reduce((max, one) => Math.max(max, measureDepth(one) + 1), 0);
    depth.set(number, longest);
    return longest;
  };
  const layers: number[][] = [];
  for (const number of numbers) (layers[measureDepth(number)] ??= []).push(number);
  return Array.from(layers, (layer) => layer ?? []);
}

/** Moves the nodes of a layer towards the mean of their neighbours, without overlap. */
function alignLayer(layer: number[], y: Map<number, number>, by: NeighbourMap): void {
  const targets = new Map(
    layer.map((number) => {
      const neighbourHeights = (by.get(number) ?? []).map((one) => y.get(one) ?? 0);
      return [number, neighbourHeights.length === 0 ? (y.get(number) ?? 0) : neighbourHeights.reduce((sum, one) => sum + one, 0) / neighbourHeights.length];
    }),
  );
  layer.sort((a, b) => (targets.get(a) ?? 0) - (targets.get(b) ?? 0));
  let nextFree = Number.NEGATIVE_INFINITY;
  let pushed = 0;
  for (const number of layer) {
    const target = targets.get(number) ?? 0;
    const at = Math.max(target, nextFree);
    pushed += at - target;
    y.set(number, at);
    nextFree = at + NODE_HEIGHT_PX + NODE_GAP_PX;
  }
  // Nodes are only pushed down; shifting the layer back by the mean keeps it centred.
  for (const number of layer) y.set(number, (y.get(number) ?? 0) - pushed / Math.max(1, layer.length));
}

export function layOutGraph(graph: Pick<TaskGraph, 'nodes' | 'edges'>): GraphLayout {
  const [before, after] = [mapNeighbours(graph.edges, 'to', 'from'), mapNeighbours(graph.edges, 'from', 'to')];
  const layers = assignLayers(graph.nodes.map((node) => node.number), before);
  const y = new Map(layers.flatMap((layer) => layer.map((number, at) => [number, at * (NODE_HEIGHT_PX + NODE_GAP_PX)] as const)));
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    for (const layer of layers) alignLayer(layer, y, before);
    for (const layer of layers.toReversed()) alignLayer(layer, y, after);
  }
  const top = Math.min(...y.values(), Number.POSITIVE_INFINITY);
  const positions = new Map(
    layers.flatMap((layer, column) =>
      layer.map((number) => [number, { number, x: MARGIN_PX + column * (NODE_WIDTH_PX + LAYER_GAP_PX), y: MARGIN_PX + Math.round((y.get(number) ?? 0) - top) }] as const),
    ),
  );
  const edges = graph.edges.flatMap(({ from, to }) => {
    const [a, b] = [positions.get(from), positions.get(to)];
    if (a === undefined || b === undefined) return [];
    const [x1, y1, x2, y2] = [a.x + NODE_WIDTH_PX, a.y + NODE_HEIGHT_PX / 2, b.x, b.y + NODE_HEIGHT_PX / 2];
    return [{ from, to, d: `M${x1} ${y1}C${x1 + LAYER_GAP_PX / 2} ${y1} ${x2 - LAYER_GAP_PX / 2} ${y2} ${x2} ${y2}` }];
  });
  const nodes = graph.nodes.flatMap(({ number }) => positions.get(number) ?? []);
  const right = Math.max(0, ...nodes.map((node) => node.x + NODE_WIDTH_PX));
  const bottom = Math.max(0, ...nodes.map((node) => node.y + NODE_HEIGHT_PX));
  return { nodes, edges, width: right + MARGIN_PX, height: bottom + MARGIN_PX };
}
