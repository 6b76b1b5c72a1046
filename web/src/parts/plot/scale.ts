// From values to places on the screen, and round numbers to write beside an axis.

export type Scale = (value: number) => number;

/** Evenly, from a range of values to a range of pixels. */
export function linear([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const length = to - from || 1;
  return (value) => start + ((value - from) / length) * (end - start);
}

/** By powers of ten. What is less than the first value stands where that does. */
export function logarithmic([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const low = Math.log10(from);
  const length = Math.log10(to) - low || 1;
  return (value) => {
    const part = (Math.log10(Math.min(to, Math.max(from, value))) - low) / length;
    return start + part * (end - start);
  };
}

/** A step of 1, 2 or 5 and so many noughts, so that about `parts` of them reach `max`. */
function niceStep(max: number, parts: number): number {
  const rough = max / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/** Round values from nought to just above the greatest. There are always two at the least. */
export function ticks(max: number, parts = 3): readonly number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const step = niceStep(max, parts);
  const steps = Math.max(1, Math.ceil(max / step - 1e-9));
  // Worked out from whole numbers, so that 0.1 + 0.2 is not written as 0.30000000000000004.
  return Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY];

/** Times to write under an axis: at round hours or at midnight, by the reader's own clock. */
export function timeTicks(from: number, to: number, most = 6): readonly number[] {
  const step = STEPS.find((candidate) => (to - from) / candidate <= most) ?? 60 * DAY;
  // Midnight here is not midnight in UTC: steps are counted from the reader's own.
  const offset = new Date(from).getTimezoneOffset() * MINUTE;
  const found: number[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at < to; at += step) found.push(at);
  return found;
}

/** How a time is written under an axis of such a length. */
export function timeLabel(at: number, length: number): string {
  const date = new Date(at);
  if (length > 3 * DAY) return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
