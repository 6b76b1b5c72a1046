// Formats of numbers, times and names.

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats dollars: `$1.84`; amounts below a cent keep two significant digits. */
export function formatMoney(usd: number): string {
  if (usd > 0 && usd < 0.01) return `$${usd.toPrecision(2)}`;
  return usd.toLocaleString('en-US', { style: 'currency', currency: 'USD' });
}

/** Formats a count with separators: `48,213`. */
export function formatCount(n: number): string {
  return n.toLocaleString('en-US');
}

/** Formats a large count briefly: `9.6 M`, `84 k`. */
export function formatCompact(n: number): string {
  if (n >= 999_500) return `${(n / 1e6).toFixed(n < 9.95e6 ? 1 : 0)} M`;
  if (n >= 1000) return `${(n / 1e3).toFixed(n < 9950 ? 1 : 0)} k`;
  return String(n);
}

/** Formats a duration in its two largest units: `2 h 06 m`, `6 m 11 s`, `41 s`. */
export function formatDuration(ms: number): string {
  const pad = (n: number) => String(Math.floor(n)).padStart(2, '0');
  const total = Math.max(0, ms);
  if (total >= DAY_MS) return `${Math.floor(total / DAY_MS)} d ${pad((total % DAY_MS) / HOUR_MS)} h`;
  if (total >= HOUR_MS) return `${Math.floor(total / HOUR_MS)} h ${pad((total % HOUR_MS) / MINUTE_MS)} m`;
  if (total >= 10 * MINUTE_MS) return `${Math.floor(total / MINUTE_MS)} m`;
  if (total >= MINUTE_MS) return `${Math.floor(total / MINUTE_MS)} m ${pad((total % MINUTE_MS) / SECOND_MS)} s`;
  return `${Math.floor(total / SECOND_MS)} s`;
}

/** Formats a duration in its largest unit: `9 m`. */
export function formatRoughDuration(ms: number): string {
  const total = Math.max(0, ms);
  if (total >= DAY_MS) return `${Math.floor(total / DAY_MS)} d`;
  if (total >= HOUR_MS) return `${Math.floor(total / HOUR_MS)} h`;
  if (total >= MINUTE_MS) return `${Math.floor(total / MINUTE_MS)} m`;
  return `${Math.floor(total / SECOND_MS)} s`;
}

/** Formats the duration of a call: `12 ms`, `1.9 s`, `48 s`. */
export function formatLatency(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return formatDuration(ms);
}

/** Formats a time of day: `14:12`, with seconds `14:12:04`; with the date on another day. */
export function formatTime(at: string | number, withSeconds = false, now = Date.now()): string {
  const date = new Date(at);
  const clock = date.toLocaleTimeString('en-GB', withSeconds ? {} : { hour: '2-digit', minute: '2-digit' });
  if (new Date(now).toDateString() === date.toDateString()) return clock;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock}`;
}

/** Returns the last five characters of an id. */
export function shortenId(id: string): string {
  return id.replace(/^[A-Za-z]+[-_]/, '').slice(-5);
}

/** Formats a count with its noun: `1 agent`, `3 agents`. */
export function pluralize(n: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(n)} ${n === 1 ? singular : plural}`;
}

/** Formats an ordinal: `2nd`. */
export function formatOrdinal(n: number): string {
  const rest = n % 100;
  const ending = rest > 10 && rest < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
}
