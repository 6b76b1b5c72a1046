// A tree of budgets as rows of boxes: as wide as what was given, shaded as far as it was spent.

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
  /** How much of the box is shaded, from 0 to 1. */
  readonly spent: number;
}

/** How much a node takes of its parent: what it was given, else what it has spent. */
function weight(node: Budgeted): number {
  const children = node.children.reduce((sum, child) => sum + weight(child), 0);
  return Math.max(node.capUsd ?? Math.max(node.spentUsd, children), 0);
}

/** Lays a tree out, parents before children. What would be narrower than `least` is left out with all below it. */
export function icicle<T extends Budgeted>(root: T, width: number, levels: number, least = 3, gap = 2): readonly Box<T>[] {
  const boxes: Box<T>[] = [];
  const lay = (node: T, level: number, x: number, room: number) => {
    const given = weight(node);
    const spent = given > 0 ? Math.min(1, node.spentUsd / given) : 0;
    boxes.push({ node, level, x, width: room, spent });
    if (level + 1 >= levels) return;
    // The server gives each node children of its own shape.
    const children = node.children as readonly T[];
    const asked = children.reduce((sum, child) => sum + weight(child), 0);
    // Children may have been promised more than there is: then they share what there is.
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
