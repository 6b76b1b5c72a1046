import { expect, test } from 'vitest';
import { layOutGraph, NODE_HEIGHT_PX } from './graphLayout';

const buildNode = (number: number) => ({ number, title: `Task ${number}`, state: 'pending' as const, column: 'ready' as const, priority: 2 });

test('dependencies are at the left of their dependents', () => {
  const drawn = layOutGraph({ nodes: [1, 2, 3].map(buildNode), edges: [{ from: 1, to: 2 }, { from: 2, to: 3 }] });
  const x = (number: number) => drawn.nodes.find((one) => one.number === number)?.x ?? 0;
  expect(x(1)).toBeLessThan(x(2));
  expect(x(2)).toBeLessThan(x(3));
  expect(drawn.edges.every((edge) => /^M[-\d. ]+C[-\d. ]+$/.test(edge.d))).toBe(true);
  expect(drawn.width).toBeGreaterThan(0);
});

test('five hundred tasks have distinct positions', () => {
  const nodes = Array.from({ length: 500 }, (_, at) => buildNode(at + 1));
  const edges = nodes.slice(1).map((one) => ({ from: Math.ceil(one.number / 3), to: one.number }));
  const drawn = layOutGraph({ nodes, edges });
  expect(new Set(drawn.nodes.map((one) => `${one.x} ${one.y}`)).size).toBe(500);
});

test('nodes do not overlap, and cycles are accepted', () => {
  const nodes = Array.from({ length: 60 }, (_, at) => buildNode(at + 1));
  const edges = nodes.flatMap((one) => [{ from: one.number, to: ((one.number * 7) % 60) + 1 }, { from: one.number, to: ((one.number * 3) % 60) + 1 }]);
  const { nodes: placed } = layOutGraph({ nodes, edges });
  for (const a of placed) {
    for (const b of placed) {
      if (a.number < b.number && a.x === b.x) expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(NODE_HEIGHT_PX);
    }
  }
});
