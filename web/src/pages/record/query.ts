// The query language of the record: `since:1h tool:mcp__mail__* outcome:failed lock`. The address
// contains the query.

/** Term names with a hint for each. */
export const TERM_HINTS = {
  since: 'start: 15m, 1h, 7d or a time',
  until: 'end: 15m, 1h, 7d or a time',
  tool: 'a tool; * matches any characters',
  agent: 'an id, the end of one, a role, or operator',
  outcome: 'done, failed or denied',
  task: 'TAS-12, a slug or an id',
  commit: 'the beginning of a hash',
} as const;

export type TermKey = keyof typeof TERM_HINTS;

export interface QueryTerm {
  readonly key: TermKey;
  readonly value: string;
}

/** A parsed query: named terms, and free text as it was typed. */
export interface ParsedQuery {
  readonly terms: readonly QueryTerm[];
  readonly words: string;
}

/** Parameters of the request. */
export interface RecordParams {
  readonly since?: string;
  readonly until?: string;
  readonly tool?: string;
  readonly agent?: string;
  readonly outcome?: string;
  readonly taskId?: string;
  readonly commit?: string;
  readonly q?: string;
}

const OUTCOMES: readonly string[] = ['done', 'failed', 'denied'];

function isTermKey(name: string): name is TermKey {
  return Object.hasOwn(TERM_HINTS, name);
}

/** Splits a line at its spaces, except between quotes. */
function splitWords(text: string): readonly string[] {
  return text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

function stripQuotes(value: string): string {
  return value.replaceAll('"', '');
}

/** Parses a word as a term; returns null if it is free text. */
export function parseTerm(piece: string): QueryTerm | null {
  const colon = piece.indexOf(':');
  const key = piece.slice(0, colon).toLowerCase();
  const value = stripQuotes(piece.slice(colon + 1));
  return colon > 0 && isTermKey(key) && value !== '' ? { key, value } : null;
}

/** Parses a query. A repeated term replaces the earlier one. */
export function parseQuery(text: string): ParsedQuery {
  const terms = new Map<TermKey, QueryTerm>();
  const words: string[] = [];
  for (const piece of splitWords(text)) {
    const term = parseTerm(piece);
    if (term === null) {
      words.push(piece);
    } else {
      terms.delete(term.key);
      terms.set(term.key, term);
    }
  }
  return { terms: [...terms.values()], words: words.join(' ') };
}

export function formatQuery({ terms, words }: ParsedQuery): string {
  const written = terms.map(({ key, value }) => `${key}:${/\s/.test(value) ? `"${value}"` : value}`);
  return [...written, words.trim()].filter((part) => part !== '').join(' ');
}

/** Sets or removes a term of a query. */
export function withTerm(text: string, key: TermKey, value: string | null): string {
  const { terms, words } = parseQuery(text);
  const others = terms.filter((term) => term.key !== key);
  return formatQuery({ terms: value === null ? others : [...others, { key, value }], words });
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Parses a relative time, a time of today, or an ISO date; returns null if it is none. */
export function parseTime(value: string, now: number): number | null {
  const relative = /^(\d{1,6})([smhdw])$/.exec(value);
  if (relative !== null) return now - Number(relative[1]) * (UNIT_MS[relative[2] ?? ''] ?? 0);
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(value);
  if (clock !== null) {
    const date = new Date(now);
    date.setHours(Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0), 0);
    return date.getTime();
  }
  const isoTime = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(isoTime) ? null : isoTime;
}

/** Converts a tool name to a pattern: a part of a name matches every tool that contains it. */
function toToolPattern(value: string): string {
  return value.includes('*') || value.startsWith('mcp__') || value.startsWith('operator__') ? value : `*${value}*`;
}

export interface RecordRequest {
  readonly params: RecordParams;
  readonly since: number | null;
  readonly until: number | null;
  /** Messages about invalid terms. */
  readonly problems: readonly string[];
}

/** Builds the request for a query at the given time. */
export function buildRecordRequest({ terms, words }: ParsedQuery, now: number): RecordRequest {
  const problems: string[] = [];
  const times: { since: number | null; until: number | null } = { since: null, until: null };
  const params: { -readonly [key in keyof RecordParams]: string } = {};
  for (const { key, value } of terms) {
    switch (key) {
      case 'since':
      case 'until':
        times[key] = parseTime(value, now);
        if (times[key] === null) problems.push(`${key}:${value} is not a time. Write 15m, 1h, 7d, 14:05 or 2026-11-15T14:05.`);
        break;
      case 'outcome':
        if (OUTCOMES.includes(value)) params.outcome = value;
        else problems.push(`outcome:${value} is unknown. Use done, failed or denied.`);
        break;
      case 'commit':
        if (/^[0-9a-f]{4,64}$/i.test(value)) params.commit = value;
        else problems.push(`commit:${value} is not an abbreviated hash. Write at least four hex digits.`);
        break;
      case 'tool':
        params.tool = toToolPattern(value);
        break;
      case 'task':
        params.taskId = value;
        break;
      case 'agent':
        params.agent = value;
        break;
    }
  }
  if (times.since !== null && times.until !== null && times.since >= times.until) {
    problems.push('until: must be after since:.');
    times.until = null;
  }
  if (times.since !== null) params.since = new Date(times.since).toISOString();
  if (times.until !== null) params.until = new Date(times.until).toISOString();
  if (words.trim() !== '') params.q = words.trim();
  return { params, ...times, problems };
}

/** Splits typed text into completed terms and the word being typed. */
export function splitTyped(text: string): { readonly done: string | null; readonly typing: string } {
  const typing = /\s$/.test(text) ? '' : (splitWords(text).at(-1) ?? '');
  const done = text.slice(0, text.length - typing.length);
  return { done: parseQuery(done).terms.length > 0 ? done : null, typing };
}

/** Formats a term for its chip; ISO dates are shown as clock times. */
export function formatTerm({ key, value }: QueryTerm): string {
  if ((key === 'since' || key === 'until') && /^\d{4}-/.test(value)) {
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) return `${key}:${value}`;
    const today = date.toDateString() === new Date().toDateString();
    const clock = date.toLocaleTimeString('en-GB');
    return `${key}:${today ? clock : `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock}`}`;
  }
  return `${key}:${value}`;
}

export interface Suggestion {
  /** Replacement for the word being typed. */
  readonly text: string;
  readonly hint: string;
}

const TIME_SUGGESTIONS: readonly Suggestion[] = [
  ['15m', 'the last 15 minutes'],
  ['1h', 'the last hour'],
  ['6h', 'the last six hours'],
  ['24h', 'the last day'],
  ['7d', 'the last week'],
].map(([text, hint]) => ({ text: text ?? '', hint: hint ?? '' }));

/** Suggests terms for the word being typed, given the known values. */
export function suggestTerms(piece: string, knownValues: Partial<Record<TermKey, readonly Suggestion[]>>): readonly Suggestion[] {
  const colon = piece.indexOf(':');
  if (colon < 0) {
    const keys = Object.entries(TERM_HINTS).filter(([key]) => key.startsWith(piece.toLowerCase()));
    return keys.map(([key, hint]) => ({ text: `${key}:`, hint }));
  }
  const [key, value] = [piece.slice(0, colon).toLowerCase(), piece.slice(colon + 1).toLowerCase()];
  if (!isTermKey(key)) return [];
  const outcomes = OUTCOMES.map((text) => ({ text, hint: '' }));
  const all = knownValues[key] ?? { since: TIME_SUGGESTIONS, until: TIME_SUGGESTIONS, outcome: outcomes, tool: [], agent: [], task: [], commit: [] }[key];
  const fits = all.filter((one) => one.text.toLowerCase().includes(value) && one.text !== piece.slice(colon + 1));
  return fits.slice(0, 8).map(({ text, hint }) => ({ text: `${key}:${text}`, hint }));
}
