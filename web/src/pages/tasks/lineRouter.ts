// Routes dependency lines at right angles through the channels between columns and the gaps between
// cards.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A column as an obstacle. */
export interface RouteLane {
  readonly left: number;
  readonly right: number;
  /** Heights at which a line may cross the column: above, between and below its cards. */
  readonly gaps: readonly number[];
}

/** Position of a card. */
export interface CardSpot {
  readonly lane: number;
  readonly top: number;
  readonly bottom: number;
}

/** Distance of a line from a column's edge, and from its neighbours. */
const EDGE_DISTANCE_PX = 7;
const LINE_SPACING_PX = 4;
const PARALLEL_LINES = 3;

const getMiddle = (spot: CardSpot): number => (spot.top + spot.bottom) / 2;

function findNearestGap(gaps: readonly number[], y: number): number {
  return gaps.reduce((best, gap) => (Math.abs(gap - y) < Math.abs(best - y) ? gap : best), gaps[0] ?? y);
}

/** Finds the channel beside a column; parallel lines are spread in it. */
function getChannelX(lane: RouteLane, side: 'left' | 'right', shift: number): number {
  const off = EDGE_DISTANCE_PX + (shift % PARALLEL_LINES) * LINE_SPACING_PX;
  return side === 'left' ? lane.left - off : lane.right + off;
}

/**
 * Computes the corners of a line from a task to one that depends on it. `shift` spreads lines that
 * share a channel.
 */
export function routeLine(lanes: readonly RouteLane[], from: CardSpot, to: CardSpot, shift = 0): Point[] {
  const [start, end] = [lanes[from.lane], lanes[to.lane]];
  if (start === undefined || end === undefined) return [];
  const yEnd = getMiddle(to) + ((shift % PARALLEL_LINES) - 1) * LINE_SPACING_PX;
  let y = getMiddle(from);
  if (from.lane === to.lane) {
    const x = getChannelX(start, 'right', shift);
    return [{ x: start.right, y }, { x, y }, { x, y: yEnd }, { x: end.right, y: yEnd }];
  }
  const isLeftward = to.lane < from.lane;
  const points: Point[] = [{ x: isLeftward ? start.left : start.right, y }];
  const step = isLeftward ? -1 : 1;
  for (let at = from.lane + step; at !== to.lane; at += step) {
    const lane = lanes[at];
    if (lane === undefined) continue;
    const gap = findNearestGap(lane.gaps, y) + ((shift % PARALLEL_LINES) - 1) * 2;
    const x = getChannelX(lane, isLeftward ? 'right' : 'left', shift);
    points.push({ x, y }, { x, y: gap });
    y = gap;
  }
  const x = getChannelX(end, isLeftward ? 'right' : 'left', shift);
  points.push({ x, y }, { x, y: yEnd }, { x: isLeftward ? end.right : end.left, y: yEnd });
  return points;
}

const CORNER_RADIUS_PX = 5;

function moveTowards(from: Point, to: Point, by: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = Math.min(by, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

const formatPoint = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** Formats a line as an SVG path with rounded corners. */
export function formatPath(points: readonly Point[]): string {
  // Coinciding points make no corner.
  const corners = points.filter((point, at) => at === 0 || Math.hypot(point.x - (points[at - 1]?.x ?? 0), point.y - (points[at - 1]?.y ?? 0)) >= 1);
  const [first, last] = [corners[0], corners.at(-1)];
  if (first === undefined || last === undefined || corners.length < 2) return '';
  let path = `M${formatPoint(first)}`;
  for (let at = 1; at < corners.length - 1; at += 1) {
    const [before, corner, after] = [corners[at - 1], corners[at], corners[at + 1]];
    if (before === undefined || corner === undefined || after === undefined) continue;
    path += `L${formatPoint(moveTowards(corner, before, CORNER_RADIUS_PX))}Q${formatPoint(corner)} ${formatPoint(moveTowards(corner, after, CORNER_RADIUS_PX))}`;
  }
  return `${path}L${formatPoint(last)}`;
}
