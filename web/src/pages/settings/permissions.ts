// The table of permissions: categories as columns, what each may use as sets.
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

/** Whether a category may use a tool. What is allowed is not denied: the server has decided that. */
export function markOf(tool: string, column: Column): Mark {
  if (column.allowed.has(tool)) return 'allowed';
  return column.denied.has(tool) ? 'denied' : 'none';
}

/** How many tools of a toolset a category may use. */
export function sumOf(set: ToolsetView, column: Column): { readonly allowed: number; readonly denied: number; readonly all: number } {
  const marks = set.tools.map((tool) => markOf(tool.name, column));
  return {
    allowed: marks.filter((mark) => mark === 'allowed').length,
    denied: marks.filter((mark) => mark === 'denied').length,
    all: marks.length,
  };
}
