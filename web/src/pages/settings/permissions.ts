// Permission table: one column per category.
import type { CategoryView, ToolsetView } from '../../api/types';

export type PermissionMark = 'allowed' | 'denied' | 'none';

export interface PermissionColumn {
  readonly name: string;
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

export function buildColumns(categories: readonly CategoryView[]): readonly PermissionColumn[] {
  return categories.map(({ name, allowed, denied }) => ({ name, allowed: new Set(allowed), denied: new Set(denied) }));
}

/** Permission of a category for a tool. The server has already resolved conflicts. */
export function getMark(tool: string, column: PermissionColumn): PermissionMark {
  if (column.allowed.has(tool)) return 'allowed';
  return column.denied.has(tool) ? 'denied' : 'none';
}

/** Counts the permissions of a category for a toolset. */
export function countMarks(set: ToolsetView, column: PermissionColumn): { readonly allowed: number; readonly denied: number; readonly all: number } {
  const marks = set.tools.map((tool) => getMark(tool.name, column));
  return {
    allowed: marks.filter((mark) => mark === 'allowed').length,
    denied: marks.filter((mark) => mark === 'denied').length,
    all: marks.length,
  };
}
