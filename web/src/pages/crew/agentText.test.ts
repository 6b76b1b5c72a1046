import { describe, expect, it } from 'vitest';
import { formatTime } from '../../parts/format';
import { sampleRow } from './sample';
import { getAllowedActions, getChip, describeActivity, describeKill, getSpending, describeSpending, describeState } from './agentText';

describe('the activity of an agent', () => {
  it('is described by state', () => {
    expect(describeActivity(sampleRow('a', { state: 'queued', queuePlace: 2 })).text).toBe('2nd in line for a slot');
    const review = { iteration: 2, max: 3, reviewerId: 'sp_00000000000e08ff' };
    expect(describeActivity(sampleRow('a', { state: 'waiting_review', review })).text).toBe('review 2 of 3 with e08ff');
    const question = { mailId: 'mail_1', subject: 'Which lock?', since: '2026-11-15T14:00:00Z' };
    expect(describeActivity(sampleRow('a', { state: 'waiting_input', asks: question }))).toEqual({ tool: null, text: '“Which lock?”', isQuestion: true });
    const limitedUntil = '2026-11-15T14:40:00.000Z';
    expect(describeActivity(sampleRow('a', { state: 'limited', model: 'sonnet', limitedUntil })).text).toBe(`sonnet limit, resumes automatically at ${formatTime(limitedUntil)}`);
    expect(describeActivity(sampleRow('a', { doing: { tool: 'Bash', text: 'cargo test' } }))).toEqual({ tool: 'Bash', text: 'cargo test', isQuestion: false });
    expect(describeActivity(sampleRow('a', { state: 'failed', reason: 'exit 2' })).text).toBe('exit 2');
    expect(describeActivity(sampleRow('a')).text).toBe('');
  });

  it('has a longer label for some states', () => {
    expect(describeState(sampleRow('a', { state: 'queued', queuePlace: 1 }))).toBe('Queued, 1st in line');
    expect(describeState(sampleRow('a'))).toBeUndefined();
  });
});

describe('money', () => {
  it('includes descendants, and has its limit', () => {
    const bounded = sampleRow('a', { costUsd: 1, budget: { usd: 6, spentUsd: 1.84 } });
    expect(describeSpending(bounded)).toBe('$1.84 of $6.00');
    expect(describeSpending(sampleRow('a', { budget: { usd: null, spentUsd: 1.84 } }))).toBe('$1.84');
    expect(describeSpending(sampleRow('a', { costUsd: 0.5 }))).toBe('$0.50');
    expect(describeSpending(sampleRow('a'))).toBe('');
  });

  it('is reserved while the agent is queued', () => {
    const queued = sampleRow('a', { state: 'queued', budget: { usd: 2, spentUsd: 0 } });
    expect(describeSpending(queued)).toBe('$2.00 reserved');
    expect(getSpending({ ...queued, budget: { usd: 2, spentUsd: 0.1 } }).isReserved).toBe(false);
  });
});

describe('a kill', () => {
  it('describes its consequences in numbers', () => {
    const description = describeKill(sampleRow('lead', { short: '9d2kq', role: 'lead', liveBelow: 10, parentId: 'p', budget: { usd: 18, spentUsd: 9.87 }, task: { number: 7, slug: 's', title: 't' } }));
    expect(description.title).toBe('Kill lead 9d2kq and 10 agents below it?');
    expect(description.verb).toBe('Kill 11 agents');
    expect(description.lines.join(' ')).toContain('the 10 live agents below it');
    expect(description.lines.join(' ')).toContain('$9.87 of $18.00 is spent; $8.13 is returned to its parent.');
    expect(description.lines.at(-1)).toBe('TAS-7 is free for another agent.');
  });

  it('is brief for an agent without descendants', () => {
    const description = describeKill(sampleRow('a', { short: 'b61hc' }));
    expect([description.title, description.verb]).toEqual(['Kill coder b61hc?', 'Kill']);
  });
});

it('allows only possible actions', () => {
  expect(getAllowedActions(sampleRow('a'))).toEqual({ kill: true, resume: false, abandon: true, attach: true });
  expect(getAllowedActions(sampleRow('a', { state: 'killed' }))).toEqual({ kill: false, resume: true, abandon: false, attach: false });
  expect(getAllowedActions(sampleRow('a', { kind: 'enlisted', category: 'worker' }))).toEqual({ kill: true, resume: false, abandon: false, attach: false });
});

it('shows an unusual kind or model in a chip', () => {
  expect(getChip(sampleRow('a'))).toBeNull();
  expect(getChip(sampleRow('a', { model: 'opus' }))).toBe('opus');
  expect(getChip(sampleRow('a', { kind: 'codex' }))).toBe('codex');
  expect(getChip(sampleRow('a', { kind: 'enlisted', model: 'x' }))).toBe('enlisted');
});
