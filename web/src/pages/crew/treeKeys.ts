// Keyboard control of the tree: moving, folding, opening.
import type { KeyboardEvent } from 'react';
import type { Item } from './levels';

export interface TreeActs {
  readonly items: readonly Item[];
  readonly selected: string;
  readonly select: (id: string) => void;
  readonly open: (id: string) => void;
  readonly fold: (id: string, open: boolean) => void;
  readonly past: (parent: string, open: boolean) => void;
  readonly focus: () => void;
}

type Agent = Extract<Item, { kind: 'agent' }>;

function agents(items: readonly Item[]): readonly Agent[] {
  return items.filter((item): item is Agent => item.kind === 'agent');
}

/** Finds the agent `by` rows away, clamped to the ends. */
export function moved(items: readonly Item[], selected: string, by: number): string | null {
  const all = agents(items);
  const at = all.findIndex((item) => item.id === selected);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
  return all[next]?.id ?? null;
}

/** Finds the parent of the selected agent. */
export function parentOf(items: readonly Item[], selected: string): string | null {
  const at = items.findIndex((item) => item.kind === 'agent' && item.id === selected);
  const level = items[at]?.level ?? 1;
  for (let index = at - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item?.kind === 'agent' && item.level < level) return item.id;
  }
  return null;
}

export function treeKeys(acts: TreeActs): { readonly letters: Record<string, () => void>; readonly onKeyDown: (event: KeyboardEvent) => void } {
  const { items, selected } = acts;
  const current = agents(items).find((item) => item.id === selected);
  const go = (id: string | null) => {
    if (id !== null) acts.select(id);
  };
  const move = (by: number) => {
    go(moved(items, selected, by));
    acts.focus();
  };
  // Right unfolds, then moves to the first child. Left folds, then moves to the parent.
  const right = () => {
    if (current === undefined) return;
    if (current.foldable && !current.open) acts.fold(current.id, true);
    else if (current.open) move(1);
  };
  const left = () => {
    if (current === undefined) return;
    if (current.open) acts.fold(current.id, false);
    else go(parentOf(items, selected));
  };
  const moves: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(15),
    PageUp: () => move(-15),
    Home: () => go(agents(items)[0]?.id ?? null),
    End: () => go(agents(items).at(-1)?.id ?? null),
    ArrowRight: right,
    ArrowLeft: left,
    Enter: () => selected !== '' && acts.open(selected),
    Escape: () => acts.select(''),
  };
  return {
    letters: { j: () => move(1), k: () => move(-1) },
    onKeyDown: (event) => {
      const act = moves[event.key];
      const inside = event.target instanceof Element && event.target.closest('button, a') !== null;
      if (act === undefined || event.metaKey || event.ctrlKey || event.altKey || inside) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    },
  };
}
