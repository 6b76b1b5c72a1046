import { expect, test } from 'vitest';
import { formatMoney, formatOrdinal, pluralize, formatRoughDuration, formatCompact, shortenId, formatDuration, formatTime, formatLatency } from './format';

test('money has cents, and more digits below a cent', () => {
  expect([0, 1.84, 20.075, 1234.5, 0.0042].map(formatMoney)).toEqual(['$0.00', '$1.84', '$20.08', '$1,234.50', '$0.0042']);
});

test('large counts are abbreviated', () => {
  expect([0, 999, 1000, 9949, 84_000, 999_499, 999_500, 9_600_000, 42_000_000].map(formatCompact)).toEqual([
    '0', '999', '1.0 k', '9.9 k', '84 k', '999 k', '1.0 M', '9.6 M', '42 M',
  ]);
});

test('durations have at most two units and are never negative', () => {
  expect([-5, 41_000, 371_000, 660_000, 7_560_000, 97_200_000].map(formatDuration)).toEqual(['0 s', '41 s', '6 m 11 s', '11 m', '2 h 06 m', '1 d 03 h']);
  expect([41_000, 540_000, 7_560_000, 200_000_000].map(formatRoughDuration)).toEqual(['41 s', '9 m', '2 h', '2 d']);
  expect([0.2, 12, 1900, 48_000].map(formatLatency)).toEqual(['<1 ms', '12 ms', '1.9 s', '48 s']);
});

test('times of another day have a date', () => {
  const now = new Date(2026, 10, 15, 20, 0).getTime();
  expect(formatTime(new Date(2026, 10, 15, 14, 12, 4).getTime(), false, now)).toBe('14:12');
  expect(formatTime(new Date(2026, 10, 14, 14, 12, 4).getTime(), true, now)).toBe('14 Nov 14:12:04');
});

test('ids, ordinals and plurals', () => {
  expect(shortenId('sp_0123456789abcdef')).toBe('bcdef');
  expect([1, 2, 3, 4, 11, 12, 13, 21, 112].map(formatOrdinal)).toEqual(['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']);
  expect([pluralize(1, 'agent'), pluralize(2, 'agent'), pluralize(0, 'reply', 'replies')]).toEqual(['1 agent', '2 agents', '0 replies']);
});
