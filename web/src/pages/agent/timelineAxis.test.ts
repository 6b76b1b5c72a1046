import { expect, test } from 'vitest';
import type { AgentStory } from '../../api/types';
import { buildAxis, buildBars, placeMarks, buildMoneyLine, buildNotches } from './timelineAxis';

const minutesToIso = (minutes: number) => new Date(Date.UTC(2026, 10, 15, 12, minutes)).toISOString();
const minutesToMs = (minutes: number) => Date.parse(minutesToIso(minutes));

function buildStory(more: Partial<AgentStory> = {}): AgentStory {
  const row = { startedAt: minutesToIso(0), finishedAt: null, costUsd: 2 } as AgentStory['row'];
  return {
    row, crumbs: [], marks: [], calls: [], spend: [], context: null, children: [], claim: null, branch: null, pull: null,
    counts: { calls: 0, mail: 0, children: 0 },
    segments: [
      { state: 'queued', from: minutesToIso(-5), to: minutesToIso(0) },
      { state: 'running', from: minutesToIso(0), to: minutesToIso(30) },
      { state: 'waiting_review', from: minutesToIso(30), to: null },
    ],
    ...more,
  };
}

test('the axis spans the work, up to its end or now', () => {
  const axis = buildAxis(buildStory(), minutesToMs(40));
  expect([axis.from, axis.to]).toEqual([minutesToMs(0), minutesToMs(40)]);
  expect(buildBars(buildStory().segments, axis).map((bar) => [bar.state, bar.left, bar.width])).toEqual([
    ['running', 0, 75],
    ['waiting_review', 75, 25],
  ]);
  const ended = buildStory({ row: { ...buildStory().row, finishedAt: minutesToIso(20) } });
  expect(buildAxis(ended, minutesToMs(99)).to).toBe(minutesToMs(20));
});

test('close notches are merged', () => {
  const axis = buildAxis(buildStory(), minutesToMs(40));
  expect(buildNotches([minutesToMs(-1), minutesToMs(10), minutesToMs(10) + 5, minutesToMs(20)], axis)).toEqual([25, 50]);
});

test('spending is a line from zero to the total', () => {
  const axis = buildAxis(buildStory(), minutesToMs(40));
  expect(buildMoneyLine(buildStory(), axis, 34)).toBeNull();
  const spend = [{ at: minutesToIso(0), usd: 0 }, { at: minutesToIso(20), usd: 1 }];
  expect(buildMoneyLine(buildStory({ spend }), axis, 34)?.line).toBe('0.0,32.0 500.0,17.0 1000.0,2.0');
});

test('labels without space are hidden', () => {
  const axis = buildAxis(buildStory(), minutesToMs(40));
  const mark = (minutes: number, text: string) => ({ at: minutesToIso(minutes), kind: 'review', text, href: null });
  const marks = [mark(0, 'start'), mark(20, 'review 1'), mark(39, 'late'), { ...mark(40, 'done'), kind: 'end' }];
  const placed = placeMarks(marks, [{ hash: '1a2b3c4d5e6f', at: minutesToIso(20.5), subject: 's' }], axis);
  expect(placed.map((one) => [one.text, one.hasLabel])).toEqual([['start', true], ['review 1', false], ['1a2b3c4', true], ['late', false]]);
});
