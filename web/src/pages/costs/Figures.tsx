// Five figures: total, rate, tokens, cost of a finished task, and cost of failed work.
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { serverNow } from '../../parts/clock';
import { money, short } from '../../parts/format';
import type { CostSummary } from '../../api/types';
import { hoursLeft, WORDS, type Span } from './span';
import css from './Figures.module.css';

function percent(part: number, all: number): string {
  return all > 0 ? `${Math.round((part / all) * 100)}%` : '0%';
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
  readonly span: Span;
  readonly limitUsd: number | null;
}

/** Placeholders keep the layout stable while the data loads. */
export function Figures({ summary, span, limitUsd }: Props) {
  const today = span.name === 'today';
  const none = '\u00a0';
  if (summary === undefined) {
    const names = [`Spent ${WORDS[span.name]}`, 'Rate now', 'Tokens', 'A finished task costs', 'Spent on failed work'];
    return (
      <dl className={css.figures} aria-busy="true">
        {names.map((name) => (
          <Figure key={name} name={name} value={none}>
            {none}
          </Figure>
        ))}
      </dl>
    );
  }
  const { spentUsd, rateUsd, tokens, doneTask, failed } = summary;
  const byMidnight = spentUsd + rateUsd * hoursLeft(serverNow());
  return (
    <dl className={css.figures}>
      <Figure name={`Spent ${WORDS[span.name]}`} value={money(spentUsd)}>
        {today && limitUsd !== null ? `${percent(spentUsd, limitUsd)} of ${money(limitUsd)}` : today ? 'no limit for the day' : none}
      </Figure>
      <Figure
        name="Rate now"
        value={
          <>
            {money(rateUsd)} <small>an hour</small>
          </>
        }
      >
        {rateUsd > 0 && today ? `${money(byMidnight)} by midnight at this rate` : rateUsd > 0 ? 'in the last hour' : 'nothing in the last hour'}
      </Figure>
      <Figure name="Tokens" value={short(tokens.all)}>
        {tokens.read > 0 ? `${percent(tokens.cached, tokens.read)} read from cache` : none}
      </Figure>
      <Figure name="A finished task costs" value={doneTask.medianUsd === null ? '–' : money(doneTask.medianUsd)}>
        {doneTask.count === 0 ? 'none finished yet' : `median of ${doneTask.count}${doneTask.beforeUsd === null ? '' : `, was ${money(doneTask.beforeUsd)}`}`}
      </Figure>
      <Figure name="Spent on failed work" value={money(failed.usd)}>
        {failed.usd > 0 ? percent(failed.usd, spentUsd) : 'nothing failed'}
        {failed.worst !== null && (
          <>
            , mostly <Link href={`/tasks?task=${failed.worst.number}`} title={failed.worst.title}>TAS-{failed.worst.number}</Link>
          </>
        )}
      </Figure>
    </dl>
  );
}
