// How numbers, times and names are written. One place, so that the same thing looks the same everywhere.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Dollars: `$1.84`; less than a cent keeps two digits that say something. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return `$${usd.toPrecision(2)}`;
  return usd.toLocaleString('en-US', { style: 'currency', currency: 'USD' });
}

/** A count with thin steps: `48,213`. */
export function count(n: number): string {
  return n.toLocaleString('en-US');
}

/** A large count in short: `9.6 M`, `84 k`. */
export function short(n: number): string {
  if (n >= 999_500) return `${(n / 1e6).toFixed(n < 9.95e6 ? 1 : 0)} M`;
  if (n >= 1000) return `${(n / 1e3).toFixed(n < 9950 ? 1 : 0)} k`;
  return String(n);
}

/** A span of time in its two greatest units: `2 h 06 m`, `6 m 11 s`, `41 s`. */
export function span(ms: number): string {
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0');
  const all = Math.max(0, ms);
  if (all >= DAY) return `${Math.floor(all / DAY)} d ${two((all % DAY) / HOUR)} h`;
  if (all >= HOUR) return `${Math.floor(all / HOUR)} h ${two((all % HOUR) / MINUTE)} m`;
  if (all >= 10 * MINUTE) return `${Math.floor(all / MINUTE)} m`;
  if (all >= MINUTE) return `${Math.floor(all / MINUTE)} m ${two((all % MINUTE) / SECOND)} s`;
  return `${Math.floor(all / SECOND)} s`;
}

/** A span of time in its greatest unit alone: `9 m`. */
export function roughly(ms: number): string {
  const all = Math.max(0, ms);
  if (all >= DAY) return `${Math.floor(all / DAY)} d`;
  if (all >= HOUR) return `${Math.floor(all / HOUR)} h`;
  if (all >= MINUTE) return `${Math.floor(all / MINUTE)} m`;
  return `${Math.floor(all / SECOND)} s`;
}

/** How long a call took: `12 ms`, `1.9 s`, `48 s`. */
export function took(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return span(ms);
}

/** A time of day: `14:12`, with seconds `14:12:04`; of another day with its date. */
export function time(at: string | number, seconds = false, now = Date.now()): string {
  const date = new Date(at);
  const clock = date.toLocaleTimeString('en-GB', seconds ? {} : { hour: '2-digit', minute: '2-digit' });
  if (new Date(now).toDateString() === date.toDateString()) return clock;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock}`;
}

/** The last digits of an id, enough to tell one from another at a glance. */
export function shortId(id: string): string {
  return id.replace(/^[A-Za-z]+[-_]/, '').slice(-5);
}

/** `1 agent`, `3 agents`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `2nd`. */
export function ordinal(n: number): string {
  const rest = n % 100;
  const ending = rest > 10 && rest < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
}
