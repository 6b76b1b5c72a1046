import { describe, expect, it } from 'vitest';
import { time } from '../../parts/format';
import { row } from './sample';
import { actsOf, chipOf, doingOf, killWords, spentOf, spentWords, stateWord } from './words';

describe('what an agent does now', () => {
  it('is said as it stands', () => {
    expect(doingOf(row('a', { state: 'queued', queuePlace: 2 })).text).toBe('2nd in line for a slot');
    const review = { iteration: 2, max: 3, reviewerId: 'sp_00000000000e08ff' };
    expect(doingOf(row('a', { state: 'waiting_review', review })).text).toBe('review 2 of 3 with e08ff');
    const asks = { mailId: 'mail_1', subject: 'Which lock?', since: '2026-11-15T14:00:00Z' };
    expect(doingOf(row('a', { state: 'waiting_input', asks }))).toEqual({ tool: null, text: '“Which lock?”', asks: true });
    const limitedUntil = '2026-11-15T14:40:00.000Z';
    expect(doingOf(row('a', { state: 'limited', model: 'sonnet', limitedUntil })).text).toBe(`sonnet limit, resumes automatically at ${time(limitedUntil)}`);
    expect(doingOf(row('a', { doing: { tool: 'Bash', text: 'cargo test' } }))).toEqual({ tool: 'Bash', text: 'cargo test', asks: false });
    expect(doingOf(row('a', { state: 'failed', reason: 'exit 2' })).text).toBe('exit 2');
    expect(doingOf(row('a')).text).toBe('');
  });

  it('has a longer word for some states', () => {
    expect(stateWord(row('a', { state: 'queued', queuePlace: 1 }))).toBe('Queued, 1st in line');
    expect(stateWord(row('a'))).toBeUndefined();
  });
});

describe('money', () => {
  it('counts what those below spent, and has its limit beside it', () => {
    const bounded = row('a', { costUsd: 1, budget: { usd: 6, spentUsd: 1.84 } });
    expect(spentWords(bounded)).toBe('$1.84 of $6.00');
    expect(spentWords(row('a', { budget: { usd: null, spentUsd: 1.84 } }))).toBe('$1.84');
    expect(spentWords(row('a', { costUsd: 0.5 }))).toBe('$0.50');
    expect(spentWords(row('a'))).toBe('');
  });

  it('is set aside while it waits for its turn', () => {
    const queued = row('a', { state: 'queued', budget: { usd: 2, spentUsd: 0 } });
    expect(spentWords(queued)).toBe('$2.00 set aside');
    expect(spentOf({ ...queued, budget: { usd: 2, spentUsd: 0.1 } }).aside).toBe(false);
  });
});

describe('a kill', () => {
  it('says what will happen, in numbers', () => {
    const words = killWords(row('lead', { short: '9d2kq', role: 'lead', liveBelow: 10, parentId: 'p', budget: { usd: 18, spentUsd: 9.87 }, task: { number: 7, slug: 's', title: 't' } }));
    expect(words.title).toBe('Kill lead 9d2kq and its 10?');
    expect(words.verb).toBe('Kill 11 agents');
    expect(words.lines.join(' ')).toContain('the 10 live agents below it');
    expect(words.lines.join(' ')).toContain('$9.87 of $18.00 is spent; $8.13 goes back to its parent.');
    expect(words.lines.at(-1)).toBe('TAS-7 is free for another agent.');
  });

  it('is short for one that is alone', () => {
    const words = killWords(row('a', { short: 'b61hc' }));
    expect([words.title, words.verb]).toEqual(['Kill coder b61hc?', 'Kill']);
  });
});

it('offers only what can be done', () => {
  expect(actsOf(row('a'))).toEqual({ kill: true, resume: false, abandon: true, attach: true });
  expect(actsOf(row('a', { state: 'killed' }))).toEqual({ kill: false, resume: true, abandon: false, attach: false });
  expect(actsOf(row('a', { kind: 'enlisted', category: 'worker' }))).toEqual({ kill: true, resume: false, abandon: false, attach: false });
});

it('shows in a chip what is not the usual', () => {
  expect(chipOf(row('a'))).toBeNull();
  expect(chipOf(row('a', { model: 'opus' }))).toBe('opus');
  expect(chipOf(row('a', { kind: 'codex' }))).toBe('codex');
  expect(chipOf(row('a', { kind: 'enlisted', model: 'x' }))).toBe('enlisted');
});
