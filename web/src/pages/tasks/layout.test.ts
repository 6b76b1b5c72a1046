import { expect, test } from 'vitest';
import { arrange, HEIGHT } from './layout';

const node = (number: number) => ({ number, title: `Task ${number}`, state: 'pending' as const, column: 'ready' as const, priority: 2 });

test('what must be done first stands at the left of what waits for it', () => {
  const drawn = arrange({ nodes: [1, 2, 3].map(node), edges: [{ from: 1, to: 2 }, { from: 2, to: 3 }] });
  const x = (number: number) => drawn.nodes.find((one) => one.number === number)?.x ?? 0;
  expect(x(1)).toBeLessThan(x(2));
  expect(x(2)).toBeLessThan(x(3));
  expect(drawn.edges.every((edge) => /^M[-\d. ]+C[-\d. ]+$/.test(edge.d))).toBe(true);
  expect(drawn.width).toBeGreaterThan(0);
});

test('five hundred tasks find their places, and no two the same', () => {
  const nodes = Array.from({ length: 500 }, (_, at) => node(at + 1));
  const edges = nodes.slice(1).map((one) => ({ from: Math.ceil(one.number / 3), to: one.number }));
  const drawn = arrange({ nodes, edges });
  expect(new Set(drawn.nodes.map((one) => `${one.x} ${one.y}`)).size).toBe(500);
});

test('nobody lies over another, and a circle ends nothing', () => {
  const nodes = Array.from({ length: 60 }, (_, at) => node(at + 1));
  const edges = nodes.flatMap((one) => [{ from: one.number, to: ((one.number * 7) % 60) + 1 }, { from: one.number, to: ((one.number * 3) % 60) + 1 }]);
  const { nodes: placed } = arrange({ nodes, edges });
  for (const a of placed) {
    for (const b of placed) {
      if (a.number < b.number && a.x === b.x) expect(Math.abs(a.y - b.y)).toBeGreaterThanOrEqual(HEIGHT);
    }
  }
});
