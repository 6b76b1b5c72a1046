import { expect, it } from 'vitest';
import { ApiError } from '../api/client';
import { findFormField, buildRunRequest, parseStartFailure } from './start';

const form = { role: '', prompt: ' Do it ', task: '', model: '', minutes: '', usd: '' };

it('sends the filled fields and omits the others', () => {
  expect(JSON.parse(JSON.stringify(buildRunRequest(form, null)))).toEqual({ prompt: ' Do it ' });
  const complete = { ...form, role: 'coder', task: ' TAS-1 ', model: 'opus', minutes: '1.5', usd: '$2' };
  expect(buildRunRequest(complete, null)).toEqual({ prompt: ' Do it ', role: 'coder', task: 'TAS-1', model: 'opus', timeout: 90, budget: { usd: 2 } });
});

it('sends neither role nor task when it resumes', () => {
  const run = JSON.parse(JSON.stringify(buildRunRequest({ ...form, role: 'coder', task: 'x' }, 'sp_1')));
  expect(run).toEqual({ prompt: ' Do it ', resume: 'sp_1' });
});

it('names the field of an invalid number', () => {
  for (const [field, invalid] of [['usd', 'much'], ['minutes', '-3'], ['usd', '0']] as const) {
    try {
      buildRunRequest({ ...form, [field]: invalid }, null);
      expect.unreachable();
    } catch (error) {
      expect(findFormField(error)).toBe(field);
    }
  }
});

it("maps the server's field names", () => {
  const error = (field: string) => new ApiError('INVALID_INPUT', 'm', 422, [], { field });
  expect([findFormField(error('budget.usd')), findFormField(error('timeout')), findFormField(error('cwd')), findFormField(new Error('x'))]).toEqual(['usd', 'minutes', null, null]);
});

it('recognizes a failed start and nothing else', () => {
  expect(parseStartFailure('failed', 'it could not be started: `claude` is not there; install it')).toBe('`claude` is not there; install it');
  expect(parseStartFailure('failed', 'exit 2')).toBeNull();
  expect(parseStartFailure('running', null)).toBeNull();
});
