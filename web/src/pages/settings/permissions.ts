// Permission table: one column per category.
import type { CategoryView, ToolsetView } from '../../api/types';

export type Mark = 'allowed' | 'denied' | 'none';

export interface Column {
  readonly name: string;
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

export function tableOf(categories: readonly CategoryView[]): readonly Column[] {
  return categories.map(({ name, allowed, denied }) => ({ name, allowed: new Set(allowed), denied: new Set(denied) }));
}

/** Permission of a category for a tool. The server has already resolved conflicts. */
export function markOf(tool: string, column: Column): Mark {
  if (column.allowed.has(tool)) return 'allowed';
  return column.denied.has(tool) ? 'denied' : 'none';
}

/** Counts the permissions of a category for a toolset. */
export function sumOf(set: ToolsetView, column: Column): { readonly allowed: number; readonly denied: number; readonly all: number } {
  const marks = set.tools.map((tool) => markOf(tool.name, column));
  return {
    allowed: marks.filter((mark) => mark === 'allowed').length,
    denied: marks.filter((mark) => mark === 'denied').length,
    all: marks.length,
  };
}
