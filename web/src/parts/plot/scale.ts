// Scales and ticks of the plots.

export type Scale = (value: number) => number;

/** Creates a linear scale from values to pixels. */
export function linear([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const length = to - from || 1;
  return (value) => start + ((value - from) / length) * (end - start);
}

/** Creates a logarithmic scale; clamps values outside the domain. */
export function logarithmic([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const low = Math.log10(from);
  const length = Math.log10(to) - low || 1;
  return (value) => {
    const part = (Math.log10(Math.min(to, Math.max(from, value))) - low) / length;
    return start + part * (end - start);
  };
}

/** Chooses a step of 1, 2 or 5 times a power of ten, with about `parts` steps up to `max`. */
function niceStep(max: number, parts: number): number {
  const rough = max / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/** Computes round ticks from 0 to at least `max`; there are at least two. */
export function ticks(max: number, parts = 3): readonly number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const step = niceStep(max, parts);
  const steps = Math.max(1, Math.ceil(max / step - 1e-9));
  // Multiplies integers, so that 0.1 + 0.2 does not become 0.30000000000000004.
  return Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY];

/** Computes time ticks at round local times. */
export function timeTicks(from: number, to: number, most = 6): readonly number[] {
  const step = STEPS.find((candidate) => (to - from) / candidate <= most) ?? 60 * DAY;
  // Steps count from local midnight, not from midnight in UTC.
  const offset = new Date(from).getTimezoneOffset() * MINUTE;
  const found: number[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at < to; at += step) found.push(at);
  return found;
}

/** Formats a time tick for an axis of the given length. */
export function timeLabel(at: number, length: number): string {
  const date = new Date(at);
  if (length > 3 * DAY) return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
