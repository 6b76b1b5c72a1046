// Formats of numbers, times and names.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats dollars: `$1.84`; amounts below a cent keep two significant digits. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return `$${usd.toPrecision(2)}`;
  return usd.toLocaleString('en-US', { style: 'currency', currency: 'USD' });
}

/** Formats a count with separators: `48,213`. */
export function count(n: number): string {
  return n.toLocaleString('en-US');
}

/** Formats a large count briefly: `9.6 M`, `84 k`. */
export function short(n: number): string {
  if (n >= 999_500) return `${(n / 1e6).toFixed(n < 9.95e6 ? 1 : 0)} M`;
  if (n >= 1000) return `${(n / 1e3).toFixed(n < 9950 ? 1 : 0)} k`;
  return String(n);
}

/** Formats a duration in its two largest units: `2 h 06 m`, `6 m 11 s`, `41 s`. */
export function span(ms: number): string {
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  const all = Math.max(0, ms);
  if (all >= DAY) return `${Math.floor(all / DAY)} d ${two((all % DAY) / HOUR)} h`;
  if (all >= HOUR) return `${Math.floor(all / HOUR)} h ${two((all % HOUR) / MINUTE)} m`;
  if (all >= 10 * MINUTE) return `${Math.floor(all / MINUTE)} m`;
  if (all >= MINUTE) return `${Math.floor(all / MINUTE)} m ${two((all % MINUTE) / SECOND)} s`;
  return `${Math.floor(all / SECOND)} s`;
}

/** Formats a duration in its largest unit: `9 m`. */
export function roughly(ms: number): string {
  const all = Math.max(0, ms);
  if (all >= DAY) return `${Math.floor(all / DAY)} d`;
  if (all >= HOUR) return `${Math.floor(all / HOUR)} h`;
  if (all >= MINUTE) return `${Math.floor(all / MINUTE)} m`;
  return `${Math.floor(all / SECOND)} s`;
}

/** Formats the duration of a call: `12 ms`, `1.9 s`, `48 s`. */
export function took(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return span(ms);
}

/** Formats a time of day: `14:12`, with seconds `14:12:04`; with the date on another day. */
export function time(at: string | number, seconds = false, now = Date.now()): string {
  const date = new Date(at);
  const clock = date.toLocaleTimeString('en-GB', seconds ? {} : { hour: '2-digit', minute: '2-digit' });
  if (new Date(now).toDateString() === date.toDateString()) return clock;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock}`;
}

/** Returns the last five characters of an id. */
export function shortId(id: string): string {
  return id.replace(/^[A-Za-z]+[-_]/, '').slice(-5);
}

/** Formats a count with its noun: `1 agent`, `3 agents`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Formats an ordinal: `2nd`. */
export function ordinal(n: number): string {
  const rest = n % 100;
  const ending = rest > 10 && rest < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
}
