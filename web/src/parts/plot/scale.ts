// Scales and ticks of the plots.

export type Scale = (value: number) => number;

/** Creates a linear scale from values to pixels. */
export function createLinearScale([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const length = to - from || 1;
  return (value) => start + ((value - from) / length) * (end - start);
}

/** Creates a logarithmic scale; clamps values outside the domain. */
export function createLogScale([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  const low = Math.log10(from);
  const length = Math.log10(to) - low || 1;
  return (value) => {
    const part = (Math.log10(Math.min(to, Math.max(from, value))) - low) / length;
    return start + part * (end - start);
  };
}

/** Chooses a step of 1, 2 or 5 times a power of ten, with about `parts` steps up to `max`. */
function chooseStep(max: number, parts: number): number {
  const rough = max / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/** Computes round ticks from 0 to at least `max`; there are at least two. */
export function computeTicks(max: number, parts = 3): readonly number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const step = chooseStep(max, parts);
  const steps = Math.max(1, Math.ceil(max / step - 1e-9));
  // Multiplies integers, so that 0.1 + 0.2 does not become 0.30000000000000004.
  return Array.from({ length: steps + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TICK_STEPS_MS = [MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 14 * DAY_MS, 30 * DAY_MS];

/** Computes time ticks at round local times. */
export function computeTimeTicks(from: number, to: number, maxTicks = 6): readonly number[] {
  const step = TICK_STEPS_MS.find((candidate) => (to - from) / candidate <= maxTicks) ?? 60 * DAY_MS;
  // Steps count from local midnight, not from midnight in UTC.
  const offset = new Date(from).getTimezoneOffset() * MINUTE_MS;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at < to; at += step) ticks.push(at);
  return ticks;
}

/** Formats a time tick for an axis of the given length. */
export function formatTimeTick(at: number, length: number): string {
  const date = new Date(at);
  if (length > 3 * DAY_MS) return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
