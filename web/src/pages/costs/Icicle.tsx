// Budgets of a lineage: one row of boxes per generation.
import { Link } from 'wouter';
import { formatMoney } from '../../parts/format';
import { layOutIcicle } from '../../parts/plot/icicle';
import { useElementWidth } from '../../parts/plot/useElementWidth';
import { getStateLook } from '../../parts/State';
import type { Lineage, LineageAgent } from '../../api/types';
import css from './Icicle.module.css';

const ROW_HEIGHT_PX = 38;
const MAX_LEVELS = 4;
const FAILED_STATES: readonly string[] = ['failed', 'timed_out', 'over_budget', 'lost', 'abandoned'];

function formatSpent(node: LineageAgent): string {
  return node.capUsd === null ? formatMoney(node.spentUsd) : `${formatMoney(node.spentUsd)} of ${formatMoney(node.capUsd)}`;
}

function describeNode(node: LineageAgent): string {
  const task = node.taskNumber === null ? '' : `, TAS-${node.taskNumber}`;
  return `${node.role} ${node.short}${task}, ${getStateLook(node.state).label}: ${formatSpent(node)}`;
}

export function Icicle({ lineage }: { readonly lineage: Lineage }) {
  const [ref, width] = useElementWidth<HTMLDivElement>(420);
  const { root, truncated } = lineage;
  if (root === null) return <p className="dim small">No agent was started yet. A lineage shows the budget and spending of each agent.</p>;
  const boxes = layOutIcicle(root, width, MAX_LEVELS);
  const rows = Math.max(...boxes.map((box) => box.level)) + 1;
  return (
    <section aria-label="Budget of a lineage">
      <div className={css.head}>
        <h2 className="cut">{root.capUsd === null ? `Spending of ${root.role}` : `Budget of ${root.role}: ${formatMoney(root.capUsd)}`}</h2>
        <span className="dim tiny">width: budget, shade: spent</span>
      </div>
      <div ref={ref} className={css.boxes} style={{ height: rows * ROW_HEIGHT_PX }}>
        {boxes.map(({ node, level, x, width: boxWidth, spent }) => (
          <Link
            key={node.id}
            href={`/agents/${node.id}`}
            className={css.box ?? ''}
            data-bad={FAILED_STATES.includes(node.state)}
            title={describeNode(node)}
            style={{ left: x, top: level * ROW_HEIGHT_PX, width: boxWidth }}
          >
            <i style={{ transform: `scaleX(${spent})` }} />
            {boxWidth > 26 && <b aria-hidden="true">{node.taskNumber !== null && boxWidth < 90 ? node.taskNumber : node.role}</b>}
            {boxWidth > 44 && <span aria-hidden="true">{boxWidth > 90 ? formatSpent(node) : formatMoney(node.spentUsd)}</span>}
            <em className="sr-only">{describeNode(node)}</em>
          </Link>
        ))}
      </div>
      {truncated && <p className="dim tiny">Only the first 300 agents are shown.</p>}
    </section>
  );
}
