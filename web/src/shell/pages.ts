import { ChartColumn, GitPullRequest, Inbox, Network, ScrollText, Settings, SquareKanban, type LucideIcon } from 'lucide-react';

export interface PageLink {
  readonly name: string;
  readonly href: string;
  readonly icon: LucideIcon;
  /** Key after `g`. */
  readonly key: string;
}

/** Pages in the order of the rail. */
export const PAGES: readonly PageLink[] = [
  { name: 'Crew', href: '/crew', icon: Network, key: 'c' },
  { name: 'Tasks', href: '/tasks', icon: SquareKanban, key: 't' },
  { name: 'Mail', href: '/mail', icon: Inbox, key: 'm' },
  { name: 'Reviews', href: '/reviews', icon: GitPullRequest, key: 'r' },
  { name: 'Record', href: '/record', icon: ScrollText, key: 'l' },
  { name: 'Costs and use', href: '/costs', icon: ChartColumn, key: 'u' },
  { name: 'Settings', href: '/settings', icon: Settings, key: 's' },
];
