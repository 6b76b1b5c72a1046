import { expect, test } from 'vitest';
import { formatPath, routeLine, type RouteLane, type Point, type CardSpot } from './lineRouter';

// Three columns of width 180 with channels of 26 between them; cards of height 80 with gaps of 10.
const lanes: RouteLane[] = [0, 1, 2].map((at) => ({ left: at * 206, right: at * 206 + 180, gaps: [45, 135, 225, 315] }));
const spot = (lane: number, place: number): CardSpot => ({ lane, top: 50 + place * 90, bottom: 130 + place * 90 });

/** True if a line crosses a card. */
function crosses(points: readonly Point[], cards: readonly CardSpot[]): boolean {
  return points.slice(1).some((to, at) => {
    const from = points[at] ?? to;
    return cards.some(({ lane, top, bottom }) => {
      const { left, right } = lanes[lane] as RouteLane;
      const [x1, x2] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
      const [y1, y2] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
      return x1 < right && x2 > left && y1 < bottom && y2 > top;
    });
  });
}

const cards = lanes.flatMap((_, lane) => [0, 1, 2].map((place) => spot(lane, place)));

test('every line has right angles, connects its cards, and crosses none', () => {
  for (const from of cards) {
    for (const to of cards) {
      if (from === to) continue;
      for (const shift of [0, 1, 2, 5]) {
        const points = routeLine(lanes, from, to, shift);
        points.slice(1).forEach((point, at) => {
          const before = points[at] as Point;
          expect(point.x === before.x || point.y === before.y).toBe(true);
        });
        const [first, last] = [points[0] as Point, points.at(-1) as Point];
        expect([lanes[from.lane]?.left, lanes[from.lane]?.right]).toContain(first.x);
        expect([lanes[to.lane]?.left, lanes[to.lane]?.right]).toContain(last.x);
        expect(last.y).toBeGreaterThan(to.top);
        expect(last.y).toBeLessThan(to.bottom);
        expect(crosses(points, cards)).toBe(false);
      }
    }
  }
});

test('a column in between is crossed at the nearest gap', () => {
  const points = routeLine(lanes, spot(2, 1), spot(0, 0), 1);
  expect(points.some((point) => point.y === 135 || point.y === 225)).toBe(true);
});

test('a column without cards does not stop a line', () => {
  const empty: RouteLane[] = [lanes[0] as RouteLane, { left: 206, right: 386, gaps: [] }, lanes[2] as RouteLane];
  expect(routeLine(empty, spot(2, 0), spot(0, 0), 1).length).toBeGreaterThan(3);
});

test('corners are rounded, and coinciding points have none', () => {
  expect(formatPath([{ x: 0, y: 0 }, { x: 20, y: 0 }, { x: 20, y: 20 }])).toBe('M0 0L15 0Q20 0 20 5L20 20');
  expect(formatPath([{ x: 0, y: 0 }, { x: 20, y: 0 }, { x: 20, y: 0 }, { x: 40, y: 0 }])).toBe('M0 0L15 0Q20 0 25 0L40 0');
  expect(formatPath([{ x: 1, y: 1 }])).toBe('');
});
