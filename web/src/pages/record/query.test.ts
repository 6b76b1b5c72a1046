import { describe, expect, it } from 'vitest';
import { buildRecordRequest, parseQuery, splitTyped, formatTerm, suggestTerms, parseTerm, parseTime, withTerm, formatQuery } from './query';

const NOW = Date.parse('2026-11-15T14:12:00Z');

describe('a query', () => {
  it('is parsed into terms and words', () => {
    expect(parseQuery('since:1h tool:mcp__* pull "Typed job ids"')).toEqual({
      terms: [
        { key: 'since', value: '1h' },
        { key: 'tool', value: 'mcp__*' },
      ],
      words: 'pull "Typed job ids"',
    });
  });

  it('keeps words with a colon that are no terms', () => {
    expect(parseQuery('colour:red http://x agent:').words).toBe('colour:red http://x agent:');
    expect(parseTerm('agent:')).toBeNull();
    expect(parseTerm('AGENT:coder')).toEqual({ key: 'agent', value: 'coder' });
  });

  it('uses the later of two terms, and is formatted as it was parsed', () => {
    expect(parseQuery('outcome:done outcome:failed').terms).toEqual([{ key: 'outcome', value: 'failed' }]);
    for (const line of ['', 'since:1h', 'agent:coder outcome:failed two words', 'agent:"iteration 4" x']) {
      expect(formatQuery(parseQuery(line))).toBe(line);
    }
  });

  it('has a term set or removed without losing the rest', () => {
    expect(withTerm('since:1h words', 'until', '5m')).toBe('since:1h until:5m words');
    expect(withTerm('since:1h words', 'since', '2h')).toBe('since:2h words');
    expect(withTerm('since:1h words', 'since', null)).toBe('words');
  });
});

describe('typed text', () => {
  it('becomes a term when a space follows', () => {
    expect(splitTyped('outcome:den')).toEqual({ done: null, typing: 'outcome:den' });
    expect(splitTyped('outcome:denied ')).toEqual({ done: 'outcome:denied ', typing: '' });
    expect(splitTyped('tool:send two wor')).toEqual({ done: 'tool:send two ', typing: 'wor' });
    expect(splitTyped('two wor')).toEqual({ done: null, typing: 'wor' });
    expect(splitTyped('tool:x "two wo')).toEqual({ done: 'tool:x ', typing: '"two wo' });
  });
});

describe('times', () => {
  it('are relative, of today, or ISO dates', () => {
    expect(parseTime('90s', NOW)).toBe(NOW - 90_000);
    expect(parseTime('1h', NOW)).toBe(NOW - 3_600_000);
    expect(parseTime('2w', NOW)).toBe(NOW - 14 * 86_400_000);
    expect(new Date(parseTime('9:05', NOW) ?? 0).getHours()).toBe(9);
    expect(parseTime('2026-11-15T14:00:00Z', NOW)).toBe(NOW - 12 * 60_000);
  });

  it('are rejected if they are invalid', () => {
    for (const value of ['yesterday', '1', 'h', '1y', '2026-99-99']) expect(parseTime(value, NOW)).toBeNull();
  });

  it('are shown as clock times', () => {
    expect(formatTerm({ key: 'since', value: '1h' })).toBe('since:1h');
    const at = new Date();
    at.setHours(14, 5, 9, 0);
    expect(formatTerm({ key: 'since', value: at.toISOString() })).toBe('since:14:05:09');
  });
});

describe('the request', () => {
  it("has the server's parameter names", () => {
    const request = buildRecordRequest(parseQuery('since:1h until:5m tool:mcp__mail__* agent:coder outcome:denied task:TAS-12 commit:90d2c3e may I'), NOW);
    expect(request.params).toEqual({
      since: '2026-11-15T13:12:00.000Z',
      until: '2026-11-15T14:07:00.000Z',
      tool: 'mcp__mail__*',
      agent: 'coder',
      outcome: 'denied',
      taskId: 'TAS-12',
      commit: '90d2c3e',
      q: 'may I',
    });
    expect(request.problems).toEqual([]);
  });

  it('matches every tool that contains the text', () => {
    expect(buildRecordRequest(parseQuery('tool:send'), NOW).params.tool).toBe('*send*');
    expect(buildRecordRequest(parseQuery('tool:mcp__mail__send'), NOW).params.tool).toBe('mcp__mail__send');
  });

  it('reports invalid terms and omits them', () => {
    const request = buildRecordRequest(parseQuery('since:soon outcome:good commit:xyz'), NOW);
    expect(request.params).toEqual({});
    expect(request.problems).toHaveLength(3);
    expect(buildRecordRequest(parseQuery('since:5m until:1h'), NOW).problems).toEqual(['until: must be after since:.']);
  });
});

describe('suggestions', () => {
  it('offer term names, then values', () => {
    expect(suggestTerms('', {}).map((one) => one.text)).toContain('commit:');
    expect(suggestTerms('ou', {}).map((one) => one.text)).toEqual(['outcome:']);
    expect(suggestTerms('outcome:d', {}).map((one) => one.text)).toEqual(['outcome:done', 'outcome:failed', 'outcome:denied']);
    const tools = [{ text: 'mcp__mail__send', hint: 'Send mail' }];
    expect(suggestTerms('tool:sen', { tool: tools }).map((one) => one.text)).toEqual(['tool:mcp__mail__send']);
    expect(suggestTerms('colour:', {})).toEqual([]);
    expect(suggestTerms('letters', {})).toEqual([]);
  });
});
