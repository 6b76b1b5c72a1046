import { expect, it } from 'vitest';
import { ApiError } from '../api/client';
import { fieldOf, runOf, unstarted } from './start';

const form = { role: '', prompt: ' Do it ', task: '', model: '', minutes: '', usd: '' };

it('sends what was written, and leaves the rest to role and configuration', () => {
  expect(JSON.parse(JSON.stringify(runOf(form, null)))).toEqual({ prompt: ' Do it ' });
  const whole = { ...form, role: 'coder', task: ' TAS-1 ', model: 'opus', minutes: '1.5', usd: '$2' };
  expect(runOf(whole, null)).toEqual({ prompt: ' Do it ', role: 'coder', task: 'TAS-1', model: 'opus', timeout: 90, budget: { usd: 2 } });
});

it('goes on as the same where it resumes', () => {
  const run = JSON.parse(JSON.stringify(runOf({ ...form, role: 'coder', task: 'x' }, 'sp_1')));
  expect(run).toEqual({ prompt: ' Do it ', resume: 'sp_1' });
});

it('names the field of what is no number', () => {
  for (const [field, bad] of [['usd', 'much'], ['minutes', '-3'], ['usd', '0']] as const) {
    try {
      runOf({ ...form, [field]: bad }, null);
      expect.unreachable();
    } catch (error) {
      expect(fieldOf(error)).toBe(field);
    }
  }
});

it("knows the server's names of fields", () => {
  const error = (field: string) => new ApiError('INVALID_INPUT', 'm', 422, [], { field });
  expect([fieldOf(error('budget.usd')), fieldOf(error('timeout')), fieldOf(error('cwd')), fieldOf(new Error('x'))]).toEqual(['usd', 'minutes', null, null]);
});

it('tells that an agent could not be started, and nothing else', () => {
  expect(unstarted('failed', 'it could not be started: `claude` is not there; install it')).toBe('`claude` is not there; install it');
  expect(unstarted('failed', 'exit 2')).toBeNull();
  expect(unstarted('running', null)).toBeNull();
});
