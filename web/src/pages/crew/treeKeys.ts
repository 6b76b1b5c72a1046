// Keyboard control of the tree: moving, folding, opening.
import type { KeyboardEvent } from 'react';
import type { TreeItem } from './levels';

export interface TreeActions {
  readonly items: readonly TreeItem[];
  readonly selected: string;
  readonly select: (id: string) => void;
  readonly open: (id: string) => void;
  readonly fold: (id: string, open: boolean) => void;
  readonly past: (parent: string, open: boolean) => void;
  readonly focus: () => void;
}

type AgentItem = Extract<TreeItem, { kind: 'agent' }>;

function filterAgents(items: readonly TreeItem[]): readonly AgentItem[] {
  return items.filter((item): item is AgentItem => item.kind === 'agent');
}

/** Finds the agent `by` rows away, clamped to the ends. */
export function findAgentBy(items: readonly TreeItem[], selected: string, by: number): string | null {
  const all = filterAgents(items);
  const at = all.findIndex((item) => item.id === selected);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
  return all[next]?.id ?? null;
}

/** Finds the parent of the selected agent. */
export function findParent(items: readonly TreeItem[], selected: string): string | null {
  const at = items.findIndex((item) => item.kind === 'agent' && item.id === selected);
  const level = items[at]?.level ?? 1;
  for (let index = at - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item?.kind === 'agent' && item.level < level) return item.id;
  }
  return null;
}

export function createTreeKeys(actions: TreeActions): { readonly letterKeys: Record<string, () => void>; readonly onKeyDown: (event: KeyboardEvent) => void } {
  const { items, selected } = actions;
  const current = filterAgents(items).find((item) => item.id === selected);
  const select = (id: string | null) => {
    if (id !== null) actions.select(id);
  };
  const move = (by: number) => {
    select(findAgentBy(items, selected, by));
    actions.focus();
  };
  // Right unfolds, then moves to the first child. Left folds, then moves to the parent.
  const right = () => {
    if (current === undefined) return;
    if (current.foldable && !current.open) actions.fold(current.id, true);
    else if (current.open) move(1);
  };
  const left = () => {
    if (current === undefined) return;
    if (current.open) actions.fold(current.id, false);
    else select(findParent(items, selected));
  };
  const handlers: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(15),
    PageUp: () => move(-15),
    Home: () => select(filterAgents(items)[0]?.id ?? null),
    End: () => select(filterAgents(items).at(-1)?.id ?? null),
    ArrowRight: right,
    ArrowLeft: left,
    Enter: () => selected !== '' && actions.open(selected),
    Escape: () => actions.select(''),
  };
  return {
    letterKeys: { j: () => move(1), k: () => move(-1) },
    onKeyDown: (event) => {
      const handler = handlers[event.key];
      const inside = event.target instanceof Element && event.target.closest('button, a') !== null;
      if (handler === undefined || event.metaKey || event.ctrlKey || event.altKey || inside) return;
      event.preventDefault();
      event.stopPropagation();
      handler();
    },
  };
}
