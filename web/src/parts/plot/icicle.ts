// Icicle layout of a tree of budgets: width shows the budget, shading the spent part.

export interface BudgetNode {
  readonly id: string;
  readonly capUsd: number | null;
  readonly spentUsd: number;
  readonly children: readonly BudgetNode[];
}

export interface IcicleBox<T extends BudgetNode> {
  readonly node: T;
  readonly level: number;
  readonly x: number;
  readonly width: number;
  /** Shaded part of the box, from 0 to 1. */
  readonly spent: number;
}

/** Weight of a node: its budget, otherwise its spending. */
function getWeight(node: BudgetNode): number {
  const children = node.children.reduce((sum, child) => sum + getWeight(child), 0);
  return Math.max(node.capUsd ?? Math.max(node.spentUsd, children), 0);
}

/** Lays out a tree, parents first. Omits boxes narrower than `minWidth`, with their descendants. */
export function layOutIcicle<T extends BudgetNode>(root: T, width: number, levels: number, minWidth = 3, gap = 2): readonly IcicleBox<T>[] {
  const boxes: IcicleBox<T>[] = [];
  const layOutNode = (node: T, level: number, x: number, boxWidth: number) => {
    const weight = getWeight(node);
    const spent = weight > 0 ? Math.min(1, node.spentUsd / weight) : 0;
    boxes.push({ node, level, x, width: boxWidth, spent });
    if (level + 1 >= levels) return;
    // The server gives each node children of the same type.
    const children = node.children as readonly T[];
    const childWeight = children.reduce((sum, child) => sum + getWeight(child), 0);
    // Children may have larger budgets than their parent; they then share its width.
    const scale = boxWidth / Math.max(weight, childWeight, 1e-9);
    let at = x;
    for (const child of children.toSorted((a, b) => getWeight(b) - getWeight(a))) {
      const childWidth = getWeight(child) * scale;
      if (childWidth - gap >= minWidth) layOutNode(child, level + 1, at, childWidth - gap);
      at += childWidth;
    }
  };
  layOutNode(root, 0, 0, width);
  return boxes;
}
