import { expect, it, vi } from 'vitest';
import { row } from './sample';
import { EMPTY, ROOT, flatten, withLevel } from './levels';
import { moved, parentOf, treeKeys } from './treeKeys';

function items() {
  let tree = withLevel(EMPTY, ROOT, { rows: [row('a', { children: 2, liveBelow: 1 }), row('d', { children: 1 })], past: 3, nextCursor: null });
  tree = withLevel(tree, 'a', { rows: [row('b', { parentId: 'a' }), row('c', { parentId: 'a' })], past: 0, nextCursor: null });
  return flatten(tree, false);
}

function keys(selected: string) {
  const acts = { items: items(), selected, select: vi.fn(), open: vi.fn(), fold: vi.fn(), past: vi.fn(), focus: vi.fn() };
  const { onKeyDown, letters } = treeKeys(acts);
  const press = (key: string) =>
    onKeyDown({ key, target: null, preventDefault: vi.fn(), stopPropagation: vi.fn() } as unknown as Parameters<typeof onKeyDown>[0]);
  return { acts, press, letters };
}

it('moves among agents and stays at the ends', () => {
  expect(moved(items(), '', 1)).toBe('a');
  expect(moved(items(), 'a', 1)).toBe('b');
  expect(moved(items(), 'd', 1)).toBe('d');
  expect(moved(items(), 'a', -1)).toBe('a');
  expect(moved([], 'a', 1)).toBeNull();
});

it('folds to the left and then goes up, unfolds to the right and then goes on', () => {
  const folded = keys('a');
  folded.press('ArrowLeft');
  expect(folded.acts.fold).toHaveBeenCalledWith('a', false);
  const below = keys('c');
  below.press('ArrowLeft');
  expect(below.acts.select).toHaveBeenCalledWith('a');
  const closed = keys('d');
  closed.press('ArrowRight');
  expect(closed.acts.fold).toHaveBeenCalledWith('d', true);
  const opened = keys('a');
  opened.press('ArrowRight');
  expect(opened.acts.select).toHaveBeenCalledWith('b');
  expect(parentOf(items(), 'a')).toBeNull();
});

it('opens with enter, and moves with letters too', () => {
  const { acts, press, letters } = keys('b');
  press('Enter');
  expect(acts.open).toHaveBeenCalledWith('b');
  letters['j']?.();
  expect(acts.select).toHaveBeenCalledWith('c');
  expect(acts.focus).toHaveBeenCalled();
});
