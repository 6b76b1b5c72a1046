// Icicle layout of a tree of budgets: width shows the budget, shading the spent part.

export interface Budgeted {
  readonly id: string;
  readonly capUsd: number | null;
  readonly spentUsd: number;
  readonly children: readonly Budgeted[];
}

export interface Box<T extends Budgeted> {
  readonly node: T;
  readonly level: number;
  readonly x: number;
  readonly width: number;
  /** Shaded part of the box, from 0 to 1. */
  readonly spent: number;
}

/** Weight of a node: its budget, otherwise its spending. */
function weight(node: Budgeted): number {
  const children = node.children.reduce((sum, child) => sum + weight(child), 0);
  return Math.max(node.capUsd ?? Math.max(node.spentUsd, children), 0);
}

/** Lays out a tree, parents first. Omits boxes narrower than `minWidth`, with their descendants. */
export function icicle<T extends Budgeted>(root: T, width: number, levels: number, least = 3, gap = 2): readonly Box<T>[] {
  const boxes: Box<T>[] = [];
  const lay = (node: T, level: number, x: number, room: number) => {
    const given = weight(node);
    const spent = given > 0 ? Math.min(1, node.spentUsd / given) : 0;
    boxes.push({ node, level, x, width: room, spent });
    if (level + 1 >= levels) return;
    // The server gives each node children of the same type.
    const children = node.children as readonly T[];
    const asked = children.reduce((sum, child) => sum + weight(child), 0);
    // Children may have larger budgets than their parent; they then share its width.
    const scale = room / Math.max(given, asked, 1e-9);
    let at = x;
    for (const child of children.toSorted((a, b) => weight(b) - weight(a))) {
      const taken = weight(child) * scale;
      if (taken - gap >= least) lay(child, level + 1, at, taken - gap);
      at += taken;
    }
  };
  lay(root, 0, 0, width);
  return boxes;
}
