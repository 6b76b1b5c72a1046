// Use of tools: calls, failures and durations.
import { CircleX, ShieldX } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/Button';
import { formatCount, formatLatency } from '../../parts/format';
import { LatencyRange } from '../../parts/plot/LatencyRange';
import { Sparkline } from '../../parts/plot/Sparkline';
import { splitToolName } from '../record/RecordTable';
import type { ToolFigures } from '../../api/types';
import css from './tables.module.css';

const MAX_SHOWN_TOOLS = 12;

function FailureCounts({ failed, denied }: { readonly failed: number; readonly denied: number }) {
  if (failed === 0 && denied === 0) return <span className="dim">0</span>;
  return (
    <span className={css.bad}>
      {failed > 0 && (
        <span data-state="failed" title="failed">
          <CircleX size={12} aria-label="failed" />
          {formatCount(failed)}
        </span>
      )}
      {denied > 0 && (
        <span data-state="waiting_input" title="denied">
          <ShieldX size={12} aria-label="denied" />
          {formatCount(denied)}
        </span>
      )}
    </span>
  );
}

export function ToolsTable({ figures, spanText }: { readonly figures: ToolFigures; readonly spanText: string }) {
  const [showsAll, setShowsAll] = useState(false);
  const tools = showsAll ? figures.tools : figures.tools.slice(0, MAX_SHOWN_TOOLS);
  if (figures.tools.length === 0 && figures.own.length === 0) return <p className={css.none}>No tool was called {spanText}.</p>;
  return (
    <section className={css.tools} aria-label="Tools">
      <table className={css.table}>
        <caption className="sr-only">Use of tools {spanText}</caption>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">{figures.estimate ? 'Calls (estimate)' : 'Calls'}</th>
            <th scope="col" className={css.left}>Over time</th>
            <th scope="col">Failed</th>
            <th scope="col" className={css.left}>Time, 1 ms to 100 s</th>
            <th scope="col">Median</th>
            <th scope="col">95th percentile</th>
          </tr>
        </thead>
        <tbody>
          {tools.map((tool) => (
            <tr key={tool.tool}>
              <th scope="row" className={`${css.tool} cut`} title={tool.tool}>
                <Link href={`/record?q=${encodeURIComponent(`since:24h tool:${tool.tool}`)}`}>{splitToolName(tool.tool).join('')}</Link>
              </th>
              <td>{formatCount(tool.calls)}</td>
              <td className={css.left}>
                <Sparkline values={tool.spark} label={`${formatCount(tool.spark.at(-1) ?? 0)} in the last interval`} />
              </td>
              <td>
                <FailureCounts failed={tool.failed} denied={tool.denied} />
              </td>
              <td className={css.left}>
                <LatencyRange p50={tool.p50Ms} p95={tool.p95Ms} />
              </td>
              <td>{formatLatency(tool.p50Ms)}</td>
              <td className="dim">{formatLatency(tool.p95Ms)}</td>
            </tr>
          ))}
          {figures.own.slice(0, showsAll ? undefined : 4).map((tool) => (
            <tr key={`own ${tool.tool}`}>
              <th scope="row" className={css.tool}>
                {tool.tool} <span className="dim">agents' own</span>
              </th>
              <td>{formatCount(tool.calls)}</td>
              <td className={css.left} />
              <td>
                <FailureCounts failed={tool.failed} denied={0} />
              </td>
              <td className={css.left} />
              <td />
              <td />
            </tr>
          ))}
        </tbody>
      </table>
      {!showsAll && figures.tools.length + figures.own.length > MAX_SHOWN_TOOLS && (
        <Button small onClick={() => setShowsAll(true)}>
          Show all {formatCount(figures.tools.length + figures.own.length)}
        </Button>
      )}
    </section>
  );
}
