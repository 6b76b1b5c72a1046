// Routes dependency lines at right angles through the channels between columns and the gaps between
// cards.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A column as an obstacle. */
export interface Lane {
  readonly left: number;
  readonly right: number;
  /** Heights at which a line may cross the column: above, between and below its cards. */
  readonly gaps: readonly number[];
}

/** Position of a card. */
export interface Spot {
  readonly lane: number;
  readonly top: number;
  readonly bottom: number;
}

/** Distance of a line from a column's edge, and from its neighbours. */
const APART = 7;
const STEP = 4;
const STEPS = 3;

const middle = (spot: Spot): number => (spot.top + spot.bottom) / 2;

function nearest(gaps: readonly number[], y: number): number {
  return gaps.reduce((best, gap) => (Math.abs(gap - y) < Math.abs(best - y) ? gap : best), gaps[0] ?? y);
}

/** Finds the channel beside a column; parallel lines are spread in it. */
function channel(lane: Lane, side: 'left' | 'right', shift: number): number {
  const off = APART + (shift % STEPS) * STEP;
  return side === 'left' ? lane.left - off : lane.right + off;
}

/**
 * Computes the corners of a line from a task to one that depends on it. `shift` spreads lines that
 * share a channel.
 */
export function route(lanes: readonly Lane[], from: Spot, to: Spot, shift = 0): Point[] {
  const [start, end] = [lanes[from.lane], lanes[to.lane]];
  if (start === undefined || end === undefined) return [];
  const yEnd = middle(to) + ((shift % STEPS) - 1) * STEP;
  let y = middle(from);
  if (from.lane === to.lane) {
    const x = channel(start, 'right', shift);
    return [{ x: start.right, y }, { x, y }, { x, y: yEnd }, { x: end.right, y: yEnd }];
  }
  const leftwards = to.lane < from.lane;
  const points: Point[] = [{ x: leftwards ? start.left : start.right, y }];
  const step = leftwards ? -1 : 1;
  for (let at = from.lane + step; at !== to.lane; at += step) {
    const lane = lanes[at];
    if (lane === undefined) continue;
    const gap = nearest(lane.gaps, y) + ((shift % STEPS) - 1) * 2;
    const x = channel(lane, leftwards ? 'right' : 'left', shift);
    points.push({ x, y }, { x, y: gap });
    y = gap;
  }
  const x = channel(end, leftwards ? 'right' : 'left', shift);
  points.push({ x, y }, { x, y: yEnd }, { x: leftwards ? end.right : end.left, y: yEnd });
  return points;
}

const ROUND = 5;

function towards(from: Point, to: Point, by: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = Math.min(by, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

const word = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** Formats a line as an SVG path with rounded corners. */
export function path(points: readonly Point[]): string {
  // Coinciding points make no corner.
  const apart = points.filter((point, at) => at === 0 || Math.hypot(point.x - (points[at - 1]?.x ?? 0), point.y - (points[at - 1]?.y ?? 0)) >= 1);
  const [first, last] = [apart[0], apart.at(-1)];
  if (first === undefined || last === undefined || apart.length < 2) return '';
  let drawn = `M${word(first)}`;
  for (let at = 1; at < apart.length - 1; at += 1) {
    const [before, corner, after] = [apart[at - 1], apart[at], apart[at + 1]];
    if (before === undefined || corner === undefined || after === undefined) continue;
    drawn += `L${word(towards(corner, before, ROUND))}Q${word(corner)} ${word(towards(corner, after, ROUND))}`;
  }
  return `${drawn}L${word(last)}`;
}
