// Effective settings of a role, including inherited ones.
import { formatCount, formatMoney, formatDuration } from '../../parts/format';
import type { EffectiveRole } from '../../api/types';
import css from './RolesPart.module.css';

const formatSeconds = (value: number | null, none: string) => (value === null ? none : formatDuration(value * 1000));

function describeBudget({ budget }: EffectiveRole): string {
  const parts = [
    budget.usd === null ? null : formatMoney(budget.usd),
    budget.tokens === null ? null : `${formatCount(budget.tokens)} tokens`,
    budget.agents === null ? null : `${formatCount(budget.agents)} agents`,
    budget.seconds === null ? null : formatDuration(budget.seconds * 1000),
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'inherited' : parts.join(', ');
}

/** Counts tools by toolset: `mail 4, task 2`. */
export function countByToolset(tools: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const set = tool.split('__')[1] ?? tool;
    counts.set(set, (counts.get(set) ?? 0) + 1);
  }
  return [...counts];
}

export function RoleFacts({ role }: { readonly role: EffectiveRole }) {
  const facts: readonly (readonly [string, string])[] = [
    ['Category', role.category],
    ['Kind', role.kind],
    ['Model', role.model ?? 'the agent’s own'],
    ['Worktree', { fresh: 'its own', parent: 'its parent’s', none: 'the project itself' }[role.worktree] ?? role.worktree],
    ['Working directory', role.cwd ?? 'the project'],
    ['Sandbox', role.sandbox],
    ['Time limit', formatSeconds(role.timeout, 'no own limit')],
    ['Inactivity limit', formatSeconds(role.inactivity, 'no own limit')],
    ['Budget', describeBudget(role)],
    ['Own tools', role.ownTools === null ? 'all' : role.ownTools.join(', ') || 'none'],
    ...(role.ownToolsDenied.length === 0 ? [] : [['Except', role.ownToolsDenied.join(', ')] as const]),
    ['Adjutant’s tools', countByToolset(role.tools).map(([set, toolCount]) => `${set} ${toolCount}`).join(', ') || 'none'],
  ];
  return (
    <section aria-label="Resulting settings">
      <h3>Resulting settings</h3>
      <dl className={css.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
