import { expect, it, vi } from 'vitest';
import { sampleRow } from './sample';
import { EMPTY_TREE, ROOT, flattenTree, withLevel } from './levels';
import { findAgentBy, findParent, createTreeKeys } from './treeKeys';

function buildItems() {
  let tree = withLevel(EMPTY_TREE, ROOT, { rows: [sampleRow('a', { children: 2, liveBelow: 1 }), sampleRow('d', { children: 1 })], past: 3, nextCursor: null });
  tree = withLevel(tree, 'a', { rows: [sampleRow('b', { parentId: 'a' }), sampleRow('c', { parentId: 'a' })], past: 0, nextCursor: null });
  return flattenTree(tree, false);
}

function pressOn(selected: string) {
  const actions = { items: buildItems(), selected, select: vi.fn(), open: vi.fn(), fold: vi.fn(), past: vi.fn(), focus: vi.fn() };
  const { onKeyDown, letterKeys } = createTreeKeys(actions);
  const press = (key: string) =>
    onKeyDown({ key, target: null, preventDefault: vi.fn(), stopPropagation: vi.fn() } as unknown as Parameters<typeof onKeyDown>[0]);
  return { actions, press, letterKeys };
}

it('moves among agents, clamped to the ends', () => {
  expect(findAgentBy(buildItems(), '', 1)).toBe('a');
  expect(findAgentBy(buildItems(), 'a', 1)).toBe('b');
  expect(findAgentBy(buildItems(), 'd', 1)).toBe('d');
  expect(findAgentBy(buildItems(), 'a', -1)).toBe('a');
  expect(findAgentBy([], 'a', 1)).toBeNull();
});

it('left folds, then moves to the parent; right unfolds, then moves on', () => {
  const folded = pressOn('a');
  folded.press('ArrowLeft');
  expect(folded.actions.fold).toHaveBeenCalledWith('a', false);
  const below = pressOn('c');
  below.press('ArrowLeft');
  expect(below.actions.select).toHaveBeenCalledWith('a');
  const closed = pressOn('d');
  closed.press('ArrowRight');
  expect(closed.actions.fold).toHaveBeenCalledWith('d', true);
  const opened = pressOn('a');
  opened.press('ArrowRight');
  expect(opened.actions.select).toHaveBeenCalledWith('b');
  expect(findParent(buildItems(), 'a')).toBeNull();
});

it('enter opens, and letters move', () => {
  const { actions, press, letterKeys } = pressOn('b');
  press('Enter');
  expect(actions.open).toHaveBeenCalledWith('b');
  letterKeys['j']?.();
  expect(actions.select).toHaveBeenCalledWith('c');
  expect(actions.focus).toHaveBeenCalled();
});
