// Effective settings of a role, including inherited ones.
import { count, money, span } from '../../parts/format';
import type { EffectiveRole } from '../../api/types';
import css from './RolesPart.module.css';

const seconds = (value: number | null, none: string) => (value === null ? none : span(value * 1000));

function budgetOf({ budget }: EffectiveRole): string {
  const parts = [
    budget.usd === null ? null : money(budget.usd),
    budget.tokens === null ? null : `${count(budget.tokens)} tokens`,
    budget.agents === null ? null : `${count(budget.agents)} agents`,
    budget.seconds === null ? null : span(budget.seconds * 1000),
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'as its parent' : parts.join(', ');
}

/** Counts tools by toolset: `mail 4, task 2`. */
export function toolsetsOf(tools: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const set = tool.split('__')[1] ?? tool;
    counts.set(set, (counts.get(set) ?? 0) + 1);
  }
  return [...counts];
}

export function RoleFacts({ sum }: { readonly sum: EffectiveRole }) {
  const facts: readonly (readonly [string, string])[] = [
    ['Category', sum.category],
    ['Kind', sum.kind],
    ['Model', sum.model ?? 'the agent’s own'],
    ['Worktree', { fresh: 'one of its own', parent: 'its parent’s', none: 'the project itself' }[sum.worktree] ?? sum.worktree],
    ['Works in', sum.cwd ?? 'the project'],
    ['Sandbox', sum.sandbox],
    ['May run for', seconds(sum.timeout, 'no limit of its own')],
    ['May be silent for', seconds(sum.inactivity, 'no limit of its own')],
    ['May spend', budgetOf(sum)],
    ['Its own tools', sum.ownTools === null ? 'all' : sum.ownTools.join(', ') || 'none'],
    ...(sum.ownToolsDenied.length === 0 ? [] : [['Except', sum.ownToolsDenied.join(', ')] as const]),
    ['Adjutant’s tools', toolsetsOf(sum.tools).map(([set, many]) => `${set} ${many}`).join(', ') || 'none'],
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
