// Use of tools: calls, failures and durations.
import { CircleX, ShieldX } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/Button';
import { count, took } from '../../parts/format';
import { Range } from '../../parts/plot/Range';
import { Spark } from '../../parts/plot/Spark';
import { toolName } from '../record/RecordTable';
import type { ToolFigures } from '../../api/types';
import css from './tables.module.css';

const SHOWN = 12;

function Bad({ failed, denied }: { readonly failed: number; readonly denied: number }) {
  if (failed === 0 && denied === 0) return <span className="dim">0</span>;
  return (
    <span className={css.bad}>
      {failed > 0 && (
        <span data-state="failed" title="failed">
          <CircleX size={12} aria-label="failed" />
          {count(failed)}
        </span>
      )}
      {denied > 0 && (
        <span data-state="waiting_input" title="denied">
          <ShieldX size={12} aria-label="denied" />
          {count(denied)}
        </span>
      )}
    </span>
  );
}

export function ToolsTable({ used, words }: { readonly used: ToolFigures; readonly words: string }) {
  const [all, setAll] = useState(false);
  const tools = all ? used.tools : used.tools.slice(0, SHOWN);
  if (used.tools.length === 0 && used.own.length === 0) return <p className={css.none}>No tool was called {words}.</p>;
  return (
    <section className={css.tools} aria-label="Tools">
      <table className={css.table}>
        <caption className="sr-only">Use of tools {words}</caption>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">{used.estimate ? 'Calls, about' : 'Calls'}</th>
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
                <Link href={`/record?q=${encodeURIComponent(`since:24h tool:${tool.tool}`)}`}>{toolName(tool.tool).join('')}</Link>
              </th>
              <td>{count(tool.calls)}</td>
              <td className={css.left}>
                <Spark values={tool.spark} label={`${count(tool.spark.at(-1) ?? 0)} in the last interval`} />
              </td>
              <td>
                <Bad failed={tool.failed} denied={tool.denied} />
              </td>
              <td className={css.left}>
                <Range p50={tool.p50Ms} p95={tool.p95Ms} />
              </td>
              <td>{took(tool.p50Ms)}</td>
              <td className="dim">{took(tool.p95Ms)}</td>
            </tr>
          ))}
          {used.own.slice(0, all ? undefined : 4).map((tool) => (
            <tr key={`own ${tool.tool}`}>
              <th scope="row" className={css.tool}>
                {tool.tool} <span className="dim">agents' own</span>
              </th>
              <td>{count(tool.calls)}</td>
              <td className={css.left} />
              <td>
                <Bad failed={tool.failed} denied={0} />
              </td>
              <td className={css.left} />
              <td />
              <td />
            </tr>
          ))}
        </tbody>
      </table>
      {!all && used.tools.length + used.own.length > SHOWN && (
        <Button small onClick={() => setAll(true)}>
          Show all {count(used.tools.length + used.own.length)}
        </Button>
      )}
    </section>
  );
}
