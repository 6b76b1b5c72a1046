import { describe, expect, test } from 'vitest';
import { appendPage, findRow, fromView, mergeHead, movedRow, neighbour, patchRows, placeRow, total, type Board } from './board';
import { row } from './sample';
import type { BoardView, ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';

function view(rows: readonly TaskRow[], more: Partial<Record<ColumnName, { count: number; next: string }>> = {}): BoardView {
  const columns = COLUMNS.map((name) => {
    const tasks = rows.filter((one) => one.column === name);
    return { name, tasks, count: more[name]?.count ?? tasks.length, nextCursor: more[name]?.next ?? null };
  });
  return { columns, truncated: false };
}

const numbers = (board: Board, name: ColumnName) => board.columns[name].rows.map((one) => one.number);

test('rows are grouped by column, with the counts of the server', () => {
  const board = fromView(view([row(1), row(2, 'done'), row(3, 'blocked')], { ready: { count: 90, next: 'p2n1' } }));
  expect(numbers(board, 'ready')).toEqual([1]);
  expect(board.columns.ready.count).toBe(90);
  expect(total(board)).toBe(92);
});

describe('pages', () => {
  const first = fromView(view([row(5), row(4)], { ready: { count: 5, next: 'p2n4' } }));

  test('a further page follows, and nothing is there twice', () => {
    const second = appendPage(first, 'ready', { tasks: [row(4), row(3)], nextCursor: 'p2n3', truncated: false });
    expect(numbers(second, 'ready')).toEqual([5, 4, 3]);
    expect(second.columns.ready.next).toBe('p2n3');
    const last = appendPage(second, 'ready', { tasks: [row(2), row(1)], nextCursor: null, truncated: false });
    expect([numbers(last, 'ready'), last.columns.ready.next]).toEqual([[5, 4, 3, 2, 1], null]);
  });

  test('a fresh head keeps what was loaded behind it', () => {
    const deep = appendPage(first, 'ready', { tasks: [row(3), row(2)], nextCursor: 'p2n2', truncated: false });
    // Task 5 has left the column, and task 3 is now in its head.
    const fresh = mergeHead(deep, view([row(5, 'inProgress'), row(4), row(3)], { ready: { count: 4, next: 'p2n3' } }));
    expect(numbers(fresh, 'ready')).toEqual([4, 3, 2]);
    expect(fresh.columns.ready.next).toBe('p2n2');
    expect(numbers(fresh, 'inProgress')).toEqual([5]);
  });

  test('a head that is everything leaves nothing behind it', () => {
    const deep = appendPage(first, 'ready', { tasks: [row(3)], nextCursor: null, truncated: false });
    const fresh = mergeHead(deep, view([row(5)]));
    expect([numbers(fresh, 'ready'), fresh.columns.ready.next]).toEqual([[5], null]);
  });

  test('what moved away in the head is not kept at its old place behind', () => {
    const deep = appendPage(first, 'ready', { tasks: [row(3), row(2)], nextCursor: 'p2n2', truncated: false });
    const fresh = mergeHead(deep, view([row(5), row(4), row(2, 'done')], { ready: { count: 4, next: 'p2n4' } }));
    expect([numbers(fresh, 'ready'), numbers(fresh, 'done')]).toEqual([[5, 4, 3], [2]]);
  });
});

describe('rows that changed', () => {
  const board = fromView(view([row(1, 'ready', 0), row(9), row(5), row(7, 'done'), row(3, 'done')]));

  test('stand in their order', () => {
    expect(numbers(patchRows(board, [row(6)]), 'ready')).toEqual([1, 9, 6, 5]);
    expect(numbers(patchRows(board, [row(9, 'ready', 0)]), 'ready')).toEqual([9, 1, 5]);
    expect(numbers(patchRows(board, [row(5, 'done')]), 'done')).toEqual([7, 5, 3]);
  });

  test('beyond what is loaded they are left out', () => {
    const part = fromView(view([row(40), row(39)], { ready: { count: 50, next: 'p2n39' } }));
    expect(numbers(patchRows(part, [row(2)]), 'ready')).toEqual([40, 39]);
    expect(numbers(patchRows(part, [row(39, 'ready', 4)]), 'ready')).toEqual([40]);
  });
});

describe('a move before the server has said yes', () => {
  const board = fromView(view([row(2), row(1), row(4, 'inProgress')]));
  const old = findRow(board, 1) as TaskRow;

  test('shows at once and counts', () => {
    const moved = placeRow(board, movedRow(old, 'inProgress'));
    expect([numbers(moved, 'ready'), numbers(moved, 'inProgress')]).toEqual([[2], [4, 1]]);
    expect([moved.columns.ready.count, moved.columns.inProgress.count]).toEqual([1, 2]);
    expect(findRow(moved, 1)?.storedState).toBe('in_progress');
  });

  test('is taken back as it was, whatever came meanwhile', () => {
    const moved = placeRow(board, movedRow(old, 'inProgress'));
    const meanwhile = patchRows(moved, [row(3)]);
    const back = placeRow(meanwhile, old);
    expect([numbers(back, 'ready'), numbers(back, 'inProgress')]).toEqual([[3, 2, 1], [4]]);
    expect([back.columns.ready.count, back.columns.inProgress.count]).toEqual([2, 1]);
  });
});

test('keys go up and down a column, and sideways past empty ones', () => {
  const board = fromView(view([row(1), row(2), row(3), row(8, 'inReview')]));
  const open: ColumnName[] = ['blocked', 'ready', 'inProgress', 'inReview'];
  const to = (from: number | null, way: 'up' | 'down' | 'left' | 'right') => neighbour(board, open, from, way)?.number;
  expect([to(null, 'down'), to(1, 'down'), to(3, 'down'), to(1, 'up')]).toEqual([1, 2, undefined, undefined]);
  expect([to(3, 'right'), to(8, 'left'), to(8, 'right'), to(1, 'left')]).toEqual([8, 1, undefined, undefined]);
});
