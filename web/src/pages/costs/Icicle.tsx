// Budgets of a lineage: one row of boxes per generation.
import { Link } from 'wouter';
import { money } from '../../parts/format';
import { icicle } from '../../parts/plot/icicle';
import { useWidth } from '../../parts/plot/useWidth';
import { lookOf } from '../../parts/State';
import type { Lineage, LineageAgent } from '../../api/types';
import css from './Icicle.module.css';

const ROW = 38;
const LEVELS = 4;
const BAD: readonly string[] = ['failed', 'timed_out', 'over_budget', 'lost', 'abandoned'];

function given(node: LineageAgent): string {
  return node.capUsd === null ? money(node.spentUsd) : `${money(node.spentUsd)} of ${money(node.capUsd)}`;
}

function told(node: LineageAgent): string {
  const task = node.taskNumber === null ? '' : `, TAS-${node.taskNumber}`;
  return `${node.role} ${node.short}${task}, ${lookOf(node.state).word}: ${given(node)}`;
}

export function Icicle({ lineage }: { readonly lineage: Lineage }) {
  const [ref, width] = useWidth<HTMLDivElement>(420);
  const { root, truncated } = lineage;
  if (root === null) return <p className="dim small">No agent was started yet. A lineage shows the budget and spending of each agent.</p>;
  const boxes = icicle(root, width, LEVELS);
  const rows = Math.max(...boxes.map((box) => box.level)) + 1;
  return (
    <section aria-label="Budget of a lineage">
      <div className={css.head}>
        <h2 className="cut">{root.capUsd === null ? `What the ${root.role} spent` : `Distribution of the ${root.role}'s ${money(root.capUsd)}`}</h2>
        <span className="dim tiny">width: budget, shade: spent</span>
      </div>
      <div ref={ref} className={css.boxes} style={{ height: rows * ROW }}>
        {boxes.map(({ node, level, x, width: wide, spent }) => (
          <Link
            key={node.id}
            href={`/agents/${node.id}`}
            className={css.box ?? ''}
            data-bad={BAD.includes(node.state)}
            title={told(node)}
            style={{ left: x, top: level * ROW, width: wide }}
          >
            <i style={{ transform: `scaleX(${spent})` }} />
            {wide > 26 && <b aria-hidden="true">{node.taskNumber !== null && wide < 90 ? node.taskNumber : node.role}</b>}
            {wide > 44 && <span aria-hidden="true">{wide > 90 ? given(node) : money(node.spentUsd)}</span>}
            <em className="sr-only">{told(node)}</em>
          </Link>
        ))}
      </div>
      {truncated && <p className="dim tiny">Only the first 300 agents are shown.</p>}
    </section>
  );
}
