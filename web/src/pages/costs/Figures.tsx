// Five figures: total, rate, tokens, cost of a finished task, and cost of failed work.
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { getServerTime } from '../../parts/clock';
import { formatMoney, formatCompact } from '../../parts/format';
import type { CostSummary } from '../../api/types';
import { countHoursLeft, SPAN_TEXTS, type TimeSpan } from './span';
import css from './Figures.module.css';

function formatPercent(part: number, total: number): string {
  return total > 0 ? `${Math.round((part / total) * 100)}%` : '0%';
}

function Figure({ name, value, children }: { readonly name: string; readonly value: ReactNode; readonly children: ReactNode }) {
  return (
    <div className={css.figure}>
      <dt>{name}</dt>
      <dd className={css.value}>{value}</dd>
      <dd className={css.note}>{children}</dd>
    </div>
  );
}

interface Props {
  readonly summary: CostSummary | undefined;
  readonly span: TimeSpan;
  readonly limitUsd: number | null;
}

/** Placeholders keep the layout stable while the data loads. */
export function Figures({ summary, span, limitUsd }: Props) {
  const isToday = span.name === 'today';
  const blank = '\u00a0';
  if (summary === undefined) {
    const names = [`Spent ${SPAN_TEXTS[span.name]}`, 'Rate now', 'Tokens', 'Cost of a finished task', 'Spent on failed work'];
    return (
      <dl className={css.figures} aria-busy="true">
        {names.map((name) => (
          <Figure key={name} name={name} value={blank}>
            {blank}
          </Figure>
        ))}
      </dl>
    );
  }
  const { spentUsd, rateUsd, tokens, doneTask, failed } = summary;
  const byMidnight = spentUsd + rateUsd * countHoursLeft(getServerTime());
  return (
    <dl className={css.figures}>
      <Figure name={`Spent ${SPAN_TEXTS[span.name]}`} value={formatMoney(spentUsd)}>
        {isToday && limitUsd !== null ? `${formatPercent(spentUsd, limitUsd)} of ${formatMoney(limitUsd)}` : isToday ? 'no limit for the day' : blank}
      </Figure>
      <Figure
        name="Rate now"
        value={
          <>
            {formatMoney(rateUsd)} <small>an hour</small>
          </>
        }
      >
        {rateUsd > 0 && isToday ? `${formatMoney(byMidnight)} by midnight at this rate` : rateUsd > 0 ? 'in the last hour' : 'nothing in the last hour'}
      </Figure>
      <Figure name="Tokens" value={formatCompact(tokens.all)}>
        {tokens.read > 0 ? `${formatPercent(tokens.cached, tokens.read)} read from cache` : blank}
      </Figure>
      <Figure name="Cost of a finished task" value={doneTask.medianUsd === null ? '–' : formatMoney(doneTask.medianUsd)}>
        {doneTask.count === 0 ? 'none finished yet' : `median of ${doneTask.count}${doneTask.beforeUsd === null ? '' : `, was ${formatMoney(doneTask.beforeUsd)}`}`}
      </Figure>
      <Figure name="Spent on failed work" value={formatMoney(failed.usd)}>
        {failed.usd > 0 ? formatPercent(failed.usd, spentUsd) : 'nothing failed'}
        {failed.worst !== null && (
          <>
            , mostly <Link href={`/tasks?task=${failed.worst.number}`} title={failed.worst.title}>TAS-{failed.worst.number}</Link>
          </>
        )}
      </Figure>
    </dl>
  );
}
