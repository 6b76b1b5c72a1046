import { describe, expect, it } from 'vitest';
import { ask, parse, settled, shown, suggest, termOf, timeOf, withTerm, write } from './query';

const NOW = Date.parse('2026-11-15T14:12:00Z');

describe('a line that is looked for', () => {
  it('is taken apart into terms and words', () => {
    expect(parse('since:1h tool:mcp__* pull "Typed job ids"')).toEqual({
      terms: [
        { key: 'since', value: '1h' },
        { key: 'tool', value: 'mcp__*' },
      ],
      words: 'pull "Typed job ids"',
    });
  });

  it('leaves words with a colon alone that name nothing', () => {
    expect(parse('colour:red http://x agent:').words).toBe('colour:red http://x agent:');
    expect(termOf('agent:')).toBeNull();
    expect(termOf('AGENT:coder')).toEqual({ key: 'agent', value: 'coder' });
  });

  it('counts the later of two terms, and is written as it was read', () => {
    expect(parse('outcome:done outcome:failed').terms).toEqual([{ key: 'outcome', value: 'failed' }]);
    for (const line of ['', 'since:1h', 'agent:coder outcome:failed two words', 'agent:"iteration 4" x']) {
      expect(write(parse(line))).toBe(line);
    }
  });

  it('has a term set or taken out without losing the rest', () => {
    expect(withTerm('since:1h words', 'until', '5m')).toBe('since:1h until:5m words');
    expect(withTerm('since:1h words', 'since', '2h')).toBe('since:2h words');
    expect(withTerm('since:1h words', 'since', null)).toBe('words');
  });
});

describe('what is being typed', () => {
  it('becomes a term when something follows it', () => {
    expect(settled('outcome:den')).toEqual({ done: null, typing: 'outcome:den' });
    expect(settled('outcome:denied ')).toEqual({ done: 'outcome:denied ', typing: '' });
    expect(settled('tool:send two wor')).toEqual({ done: 'tool:send two ', typing: 'wor' });
    expect(settled('two wor')).toEqual({ done: null, typing: 'wor' });
    expect(settled('tool:x "two wo')).toEqual({ done: 'tool:x ', typing: '"two wo' });
  });
});

describe('times', () => {
  it('are so long ago, of this day, or written out', () => {
    expect(timeOf('90s', NOW)).toBe(NOW - 90_000);
    expect(timeOf('1h', NOW)).toBe(NOW - 3_600_000);
    expect(timeOf('2w', NOW)).toBe(NOW - 14 * 86_400_000);
    expect(new Date(timeOf('9:05', NOW) ?? 0).getHours()).toBe(9);
    expect(timeOf('2026-11-15T14:00:00Z', NOW)).toBe(NOW - 12 * 60_000);
  });

  it('are none where they mean nothing', () => {
    for (const value of ['yesterday', '1', 'h', '1y', '2026-99-99']) expect(timeOf(value, NOW)).toBeNull();
  });

  it('are shown by their clock', () => {
    expect(shown({ key: 'since', value: '1h' })).toBe('since:1h');
    const at = new Date();
    at.setHours(14, 5, 9, 0);
    expect(shown({ key: 'since', value: at.toISOString() })).toBe('since:14:05:09');
  });
});

describe('what the server is asked', () => {
  it('has the names that the server knows', () => {
    const asked = ask(parse('since:1h until:5m tool:mcp__mail__* agent:coder outcome:denied task:TAS-12 commit:90d2c3e may I'), NOW);
    expect(asked.params).toEqual({
      since: '2026-11-15T13:12:00.000Z',
      until: '2026-11-15T14:07:00.000Z',
      tool: 'mcp__mail__*',
      agent: 'coder',
      outcome: 'denied',
      taskId: 'TAS-12',
      commit: '90d2c3e',
      q: 'may I',
    });
    expect(asked.problems).toEqual([]);
  });

  it('takes a part of a tool for every tool it is in', () => {
    expect(ask(parse('tool:send'), NOW).params.tool).toBe('*send*');
    expect(ask(parse('tool:mcp__mail__send'), NOW).params.tool).toBe('mcp__mail__send');
  });

  it('says what means nothing and does not ask for it', () => {
    const asked = ask(parse('since:soon outcome:good commit:xyz'), NOW);
    expect(asked.params).toEqual({});
    expect(asked.problems).toHaveLength(3);
    expect(ask(parse('since:5m until:1h'), NOW).problems).toEqual(['until: must be after since:.']);
  });
});

describe('suggestions', () => {
  it('name what can be asked for, and then what it can be', () => {
    expect(suggest('', {}).map((one) => one.text)).toContain('commit:');
    expect(suggest('ou', {}).map((one) => one.text)).toEqual(['outcome:']);
    expect(suggest('outcome:d', {}).map((one) => one.text)).toEqual(['outcome:done', 'outcome:failed', 'outcome:denied']);
    const tools = [{ text: 'mcp__mail__send', hint: 'Send mail' }];
    expect(suggest('tool:sen', { tool: tools }).map((one) => one.text)).toEqual(['tool:mcp__mail__send']);
    expect(suggest('colour:', {})).toEqual([]);
    expect(suggest('letters', {})).toEqual([]);
  });
});
