import { describe, expect, it } from 'vitest';
import { layOutIcicle, type BudgetNode } from './icicle';

function node(id: string, capUsd: number | null, spentUsd: number, children: readonly BudgetNode[] = []): BudgetNode {
  return { id, capUsd, spentUsd, children };
}

describe('icicle layout', () => {
  it('is as wide as the budget and shaded by the spent share', () => {
    const tree = node('root', 40, 10, [node('a', 20, 5), node('b', 10, 10)]);
    const boxes = layOutIcicle(tree, 400, 3, 3, 0);
    expect(boxes.map(({ node: { id }, level, x, width, spent }) => [id, level, x, width, spent])).toEqual([
      ['root', 0, 0, 400, 0.25],
      ['a', 1, 0, 200, 0.25],
      ['b', 1, 200, 100, 1],
    ]);
  });

  it('sorts by budget and omits boxes that are too narrow', () => {
    const tree = node('root', 100, 0, [node('tiny', 0.1, 0), node('small', 10, 0), node('large', 80, 0)]);
    expect(layOutIcicle(tree, 100, 2).map((box) => box.node.id)).toEqual(['root', 'large', 'small']);
  });

  it("scales children whose budgets exceed their parent's", () => {
    const tree = node('root', 10, 0, [node('a', 10, 0), node('b', 10, 0)]);
    const boxes = layOutIcicle(tree, 100, 2, 3, 0);
    expect(boxes.map((box) => box.width)).toEqual([100, 50, 50]);
  });

  it('uses the spending without a budget, and stays inside the box', () => {
    const tree = node('root', null, 4, [node('a', null, 3), node('b', 2, 5)]);
    const boxes = layOutIcicle(tree, 100, 2, 3, 0);
    expect(boxes.map((box) => box.node.id)).toEqual(['root', 'a', 'b']);
    expect(boxes.every((box) => box.spent <= 1 && box.x + box.width <= 100.001)).toBe(true);
  });

  it('limits the rows, and accepts an empty tree', () => {
    const deep = node('a', 1, 0, [node('b', 1, 0, [node('c', 1, 0)])]);
    expect(layOutIcicle(deep, 100, 2).length).toBe(2);
    expect(layOutIcicle(node('none', null, 0), 100, 3)).toHaveLength(1);
  });
});
