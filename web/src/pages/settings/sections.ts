// Assignment of configuration keys to parts of the page, their sections and labels.
import type { KeyView } from '../../api/types';

export const PARTS = [
  { id: 'general', name: 'General', about: 'The server, models, agents, reviews, GitHub' },
  { id: 'limits', name: 'Limits', about: 'Depth, number and duration' },
  { id: 'budget', name: 'Budget', about: 'Spending caps and token prices' },
  { id: 'roles', name: 'Roles', about: 'Prompts, and how agents in each role run' },
  { id: 'permissions', name: 'Permissions', about: 'Tools that each category may use' },
  { id: 'webhooks', name: 'Webhooks', about: 'Programs that receive events' },
  { id: 'notifications', name: 'Notifications', about: 'Browser notifications and Slack' },
  { id: 'servers', name: 'Servers', about: 'Who serves this home, and who would go on' },
  { id: 'keys', name: 'Keys', about: 'Keyboard shortcuts' },
] as const;

export type PartId = (typeof PARTS)[number]['id'];

export function isPart(id: string): id is PartId {
  return PARTS.some((part) => part.id === id);
}

const PART_BY_PREFIX: readonly (readonly [string, PartId])[] = [
  ['mcp.fullAccessCategories', 'permissions'],
  ['categories', 'permissions'],
  ['limits', 'limits'],
  ['mcp', 'limits'],
  ['budget', 'budget'],
  ['prices', 'budget'],
  ['webhooks', 'webhooks'],
  ['slack', 'notifications'],
];

/** Finds the part that edits a key. */
export function findPart(key: string): PartId {
  const entry = PART_BY_PREFIX.find(([prefix]) => key === prefix || key.startsWith(`${prefix}.`));
  return entry?.[1] ?? 'general';
}

/**
 * Converts a key to a label: `maxPromptBytes` is "Max prompt bytes", `max_iterations` "Max
 * iterations".
 */
export function humanizeName(name: string): string {
  const words = name
    .replaceAll('_', ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  const spelled = words.replaceAll(/\b(url|mcp|usd|acp|id)\b/g, (word) => word.toUpperCase()).replaceAll('github', 'GitHub');
  return spelled.charAt(0).toUpperCase() + spelled.slice(1);
}

export interface KeySection {
  readonly name: string;
  readonly title: string;
  readonly keys: readonly KeyView[];
}

/** Groups the keys of a part by section, in the order of the file. */
export function groupSections(keys: readonly KeyView[], part: PartId): readonly KeySection[] {
  const sections = new Map<string, KeyView[]>();
  for (const key of keys.filter((one) => findPart(one.key) === part)) {
    const sectionName = key.key.split('.').slice(0, -1).join('.');
    const list = sections.get(sectionName) ?? [];
    list.push(key);
    sections.set(sectionName, list);
  }
  const all = [...sections].map(([name, sectionKeys]) => ({ name, title: name === '' ? 'Other' : name.split('.').map(humanizeName).join(', '), keys: sectionKeys }));
  // The section with the part's own name comes first, keys without a section last.
  const getRank = (section: KeySection) => Number(section.name === part) - Number(section.name === '');
  return all.sort((one, other) => getRank(other) - getRank(one));
}

/** Label of a key: its last name. */
export function getKeyLabel(key: string): string {
  return humanizeName(key.split('.').at(-1) ?? key);
}

/** Filters keys by name and description. */
export function filterKeys(keys: readonly KeyView[], query: string): readonly KeyView[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return keys.filter((key) => {
    const text = `${key.key} ${getKeyLabel(key.key)} ${key.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
