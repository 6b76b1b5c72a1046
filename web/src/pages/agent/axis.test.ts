import { expect, test } from 'vitest';
import type { AgentStory } from '../../api/types';
import { axisOf, barsOf, marksOf, moneyOf, notchesOf } from './axis';

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 15, 12, minutes)).toISOString();
const ms = (minutes: number) => Date.parse(at(minutes));

function story(more: Partial<AgentStory> = {}): AgentStory {
  const row = { startedAt: at(0), finishedAt: null, costUsd: 2 } as AgentStory['row'];
  return {
    row, crumbs: [], marks: [], calls: [], spend: [], context: null, children: [], claim: null, branch: null, pull: null,
    counts: { calls: 0, mail: 0, children: 0 },
    segments: [
      { state: 'queued', from: at(-5), to: at(0) },
      { state: 'running', from: at(0), to: at(30) },
      { state: 'waiting_review', from: at(30), to: null },
    ],
    ...more,
  };
}

test('the axis begins with its work and ends with it, or now', () => {
  const axis = axisOf(story(), ms(40));
  expect([axis.from, axis.to]).toEqual([ms(0), ms(40)]);
  expect(barsOf(story().segments, axis).map((bar) => [bar.state, bar.left, bar.width])).toEqual([
    ['running', 0, 75],
    ['waiting_review', 75, 25],
  ]);
  const over = story({ row: { ...story().row, finishedAt: at(20) } });
  expect(axisOf(over, ms(99)).to).toBe(ms(20));
});

test('notches that cannot be told apart are one', () => {
  const axis = axisOf(story(), ms(40));
  expect(notchesOf([ms(-1), ms(10), ms(10) + 5, ms(20)], axis)).toEqual([25, 50]);
});

test('money is a line from nothing to what was spent', () => {
  const axis = axisOf(story(), ms(40));
  expect(moneyOf(story(), axis, 34)).toBeNull();
  const spend = [{ at: at(0), usd: 0 }, { at: at(20), usd: 1 }];
  expect(moneyOf(story({ spend }), axis, 34)?.line).toBe('0.0,32.0 500.0,17.0 1000.0,2.0');
});

test('words that have no room are left out', () => {
  const axis = axisOf(story(), ms(40));
  const mark = (minutes: number, text: string) => ({ at: at(minutes), kind: 'review', text, href: null });
  const marks = [mark(0, 'start'), mark(20, 'review 1'), mark(39, 'late'), { ...mark(40, 'done'), kind: 'end' }];
  const placed = marksOf(marks, [{ hash: '1a2b3c4d5e6f', at: at(20.5), subject: 's' }], axis);
  expect(placed.map((one) => [one.text, one.worded])).toEqual([['start', true], ['review 1', false], ['1a2b3c4', true], ['late', false]]);
});
