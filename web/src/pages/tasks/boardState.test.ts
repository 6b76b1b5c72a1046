import { describe, expect, test } from 'vitest';
import { appendPage, findRow, buildBoard, mergeHead, moveRow, findNeighbour, patchRows, placeRow, countTasks, type Board } from './boardState';
import { sampleRow } from './sample';
import type { BoardView, ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';

function buildView(rows: readonly TaskRow[], more: Partial<Record<ColumnName, { count: number; next: string }>> = {}): BoardView {
  const columns = COLUMNS.map((name) => {
    const tasks = rows.filter((one) => one.column === name);
    return { name, tasks, count: more[name]?.count ?? tasks.length, nextCursor: more[name]?.next ?? null };
  });
  return { columns, truncated: false };
}

const listNumbers = (board: Board, name: ColumnName) => board.columns[name].rows.map((one) => one.number);

test('rows are grouped by column, with the counts of the server', () => {
  const board = buildBoard(buildView([sampleRow(1), sampleRow(2, 'done'), sampleRow(3, 'blocked')], { ready: { count: 90, next: 'p2n1' } }));
  expect(listNumbers(board, 'ready')).toEqual([1]);
  expect(board.columns.ready.count).toBe(90);
  expect(countTasks(board)).toBe(92);
});

describe('pages', () => {
  const first = buildBoard(buildView([sampleRow(5), sampleRow(4)], { ready: { count: 5, next: 'p2n4' } }));

  test('a page is appended without repeating rows', () => {
    const second = appendPage(first, 'ready', { tasks: [sampleRow(4), sampleRow(3)], nextCursor: 'p2n3', truncated: false });
    expect(listNumbers(second, 'ready')).toEqual([5, 4, 3]);
    expect(second.columns.ready.nextCursor).toBe('p2n3');
    const last = appendPage(second, 'ready', { tasks: [sampleRow(2), sampleRow(1)], nextCursor: null, truncated: false });
    expect([listNumbers(last, 'ready'), last.columns.ready.nextCursor]).toEqual([[5, 4, 3, 2, 1], null]);
  });

  test('a new head keeps the rows loaded behind it', () => {
    const deep = appendPage(first, 'ready', { tasks: [sampleRow(3), sampleRow(2)], nextCursor: 'p2n2', truncated: false });
    // Task 5 has left the column, and task 3 is now in its head.
    const fresh = mergeHead(deep, buildView([sampleRow(5, 'inProgress'), sampleRow(4), sampleRow(3)], { ready: { count: 4, next: 'p2n3' } }));
    expect(listNumbers(fresh, 'ready')).toEqual([4, 3, 2]);
    expect(fresh.columns.ready.nextCursor).toBe('p2n2');
    expect(listNumbers(fresh, 'inProgress')).toEqual([5]);
  });

  test('a complete head drops the rows behind it', () => {
    const deep = appendPage(first, 'ready', { tasks: [sampleRow(3)], nextCursor: null, truncated: false });
    const fresh = mergeHead(deep, buildView([sampleRow(5)]));
    expect([listNumbers(fresh, 'ready'), fresh.columns.ready.nextCursor]).toEqual([[5], null]);
  });

  test('a row that moved into another head leaves its old position', () => {
    const deep = appendPage(first, 'ready', { tasks: [sampleRow(3), sampleRow(2)], nextCursor: 'p2n2', truncated: false });
    const fresh = mergeHead(deep, buildView([sampleRow(5), sampleRow(4), sampleRow(2, 'done')], { ready: { count: 4, next: 'p2n4' } }));
    expect([listNumbers(fresh, 'ready'), listNumbers(fresh, 'done')]).toEqual([[5, 4, 3], [2]]);
  });
});

describe('changed rows', () => {
  const board = buildBoard(buildView([sampleRow(1, 'ready', 0), sampleRow(9), sampleRow(5), sampleRow(7, 'done'), sampleRow(3, 'done')]));

  test('are sorted into their column', () => {
    expect(listNumbers(patchRows(board, [sampleRow(6)]), 'ready')).toEqual([1, 9, 6, 5]);
    expect(listNumbers(patchRows(board, [sampleRow(9, 'ready', 0)]), 'ready')).toEqual([9, 1, 5]);
    expect(listNumbers(patchRows(board, [sampleRow(5, 'done')]), 'done')).toEqual([7, 5, 3]);
  });

  test('are omitted beyond the loaded rows', () => {
    const part = buildBoard(buildView([sampleRow(40), sampleRow(39)], { ready: { count: 50, next: 'p2n39' } }));
    expect(listNumbers(patchRows(part, [sampleRow(2)]), 'ready')).toEqual([40, 39]);
    expect(listNumbers(patchRows(part, [sampleRow(39, 'ready', 4)]), 'ready')).toEqual([40]);
  });
});

describe('an optimistic move', () => {
  const board = buildBoard(buildView([sampleRow(2), sampleRow(1), sampleRow(4, 'inProgress')]));
  const old = findRow(board, 1) as TaskRow;

  test('is shown and counted at once', () => {
    const moved = placeRow(board, moveRow(old, 'inProgress'));
    expect([listNumbers(moved, 'ready'), listNumbers(moved, 'inProgress')]).toEqual([[2], [4, 1]]);
    expect([moved.columns.ready.count, moved.columns.inProgress.count]).toEqual([1, 2]);
    expect(findRow(moved, 1)?.storedState).toBe('in_progress');
  });

  test('is reverted, whatever changed meanwhile', () => {
    const moved = placeRow(board, moveRow(old, 'inProgress'));
    const meanwhile = patchRows(moved, [sampleRow(3)]);
    const back = placeRow(meanwhile, old);
    expect([listNumbers(back, 'ready'), listNumbers(back, 'inProgress')]).toEqual([[3, 2, 1], [4]]);
    expect([back.columns.ready.count, back.columns.inProgress.count]).toEqual([2, 1]);
  });
});

test('keys move in a column, and sideways past empty columns', () => {
  const board = buildBoard(buildView([sampleRow(1), sampleRow(2), sampleRow(3), sampleRow(8, 'inReview')]));
  const open: ColumnName[] = ['blocked', 'ready', 'inProgress', 'inReview'];
  const to = (from: number | null, direction: 'up' | 'down' | 'left' | 'right') => findNeighbour(board, open, from, direction)?.number;
  expect([to(null, 'down'), to(1, 'down'), to(3, 'down'), to(1, 'up')]).toEqual([1, 2, undefined, undefined]);
  expect([to(3, 'right'), to(8, 'left'), to(8, 'right'), to(1, 'left')]).toEqual([8, 1, undefined, undefined]);
});
