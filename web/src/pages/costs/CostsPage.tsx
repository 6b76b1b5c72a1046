// The costs page: spending over time and by group, budgets, and the use of tools.
import { CalendarRange, Download, Table2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { kinds, useRefresh } from '../../api/live';
import { useOverview } from '../../api/overview';
import { Button } from '../../parts/Button';
import { serverNow, useNow } from '../../parts/clock';
import { Copy } from '../../parts/Copy';
import { Problem } from '../../parts/Problem';
import { Segmented } from '../../parts/Segmented';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { save } from '../record/exporting';
import { Figures } from './Figures';
import { Icicle } from './Icicle';
import { useLineage, useSeries, useSummary, useToolsUsed } from './queries';
import { Ranking } from './Ranking';
import { SeriesPlot } from './SeriesPlot';
import { SeriesTable } from './SeriesTable';
import type { CostSeries } from '../../api/types';
import { CUTS, dayText, spanOf, UNITS, WORDS, type Cut, type SpanName, type Unit } from './span';
import { seriesCsv } from './stack';
import { ToolsTable } from './ToolsTable';
import css from './CostsPage.module.css';

function Legend({ series }: { readonly series: CostSeries }) {
  return (
    <ul className={css.legend} aria-label="Colours">
      {series.keys.map(({ key, label }, at) => (
        <li key={key} className="cut" title={label}>
          <i style={{ background: `var(--c${Math.min(6, at + 1)})` }} />
          {label}
        </li>
      ))}
    </ul>
  );
}

export default function CostsPage() {
  const [name, setName] = useParam<SpanName>('span', 'today');
  const [from, setFrom] = useParam<string>('from', '');
  const [to, setTo] = useParam<string>('to', '');
  const [namedUnit, setUnit] = useParam<Unit>('unit', 'money');
  const [namedCut, setCut] = useParam<Cut>('by', 'role');
  const [agent] = useParam<string>('agent', '');
  const [asTable, setAsTable] = useState(false);
  const unit = UNITS.includes(namedUnit) ? namedUnit : 'money';
  const by = CUTS.includes(namedCut) ? namedCut : 'role';
  // A span starts at midnight, so it changes only with the day.
  const day = new Date(useNow()).toDateString();
  const span = useMemo(() => spanOf(name, from, to, serverNow()), [name, from, to, day]);
  const series = useSeries(span, by);
  const summary = useSummary(span);
  const lineage = useLineage(agent);
  const used = useToolsUsed(span);
  const today = useOverview().data?.today;
  const limitUsd = span.name === 'today' ? (today?.limitUsd ?? null) : null;
  useRefresh(kinds('agent.finished', 'agent.created'), [['costs']], 2000);

  const error = series.error ?? summary.error;
  const data = series.data;
  const nothing = data !== undefined && data.keys.length === 0;
  return (
    <Page name="Costs and use">
      <div className={css.bar}>
        <Segmented
          label="Which time"
          value={span.name}
          choices={[
            { value: 'today', label: 'Today' },
            { value: '7d', label: '7 days' },
            { value: '30d', label: '30 days' },
            { value: 'range', label: <span className="sr-only">A range of days</span>, icon: <CalendarRange size={14} aria-hidden="true" /> },
          ]}
          onChange={setName}
        />
        {span.name === 'range' && (
          <span className={css.days}>
            <input type="date" aria-label="From" value={dayText(span.since)} max={to} onChange={(event) => setFrom(event.target.value)} />
            <input type="date" aria-label="To" value={to === '' ? dayText(new Date(serverNow())) : to} min={from} onChange={(event) => setTo(event.target.value)} />
          </span>
        )}
        <Segmented label="Unit" value={unit} choices={[{ value: 'money', label: 'Money' }, { value: 'tokens', label: 'Tokens' }]} onChange={setUnit} />
        <Segmented label="Cut by" value={by} choices={CUTS.map((value) => ({ value, label: `By ${value}` }))} onChange={setCut} />
        <span className="grow" />
        <span className={`${css.source} dim tiny`}>costs as agents report them, otherwise computed from the price table</span>
        <Button icon={<Download size={12} aria-hidden="true" />} disabled={data === undefined || nothing} onClick={() => data !== undefined && save(`costs-by-${by}.csv`, 'text/csv', seriesCsv(data))}>
          CSV
        </Button>
      </div>
      <div className={`${css.page} scroll`} tabIndex={-1}>
        <Figures summary={summary.data} span={span} limitUsd={limitUsd} />
        {error !== null && data === undefined ? (
          <Problem title="The costs could not be read" error={error} onRetry={() => void series.refetch()} />
        ) : (
          <div className={css.main}>
            <section className={css.plot} aria-label="Over time">
              <div className={css.head}>
                <h2>Total, and each {data !== undefined && data.step > 3_600_000 ? 'day' : 'hour'} by {by}</h2>
                {data !== undefined && <Legend series={data} />}
                <Button small look="quiet" icon={<Table2 size={14} aria-hidden="true" />} aria-label="Show as table" aria-pressed={asTable} onClick={() => setAsTable(!asTable)} />
              </div>
              <div className={css.room}>
                {data !== undefined && !asTable && <SeriesPlot series={data} unit={unit} limitUsd={limitUsd} now={serverNow()} />}
                {data !== undefined && <SeriesTable series={data} unit={unit} visible={asTable} />}
                {nothing && !asTable && (
                  <div className={css.empty}>
                    <p className="strong">No spending {WORDS[span.name]}</p>
                    <p className="mid">The usage that agents report is shown here by the hour.</p>
                    <Copy text="adjutant draft --role coder 'Fix the parser'" />
                  </div>
                )}
              </div>
            </section>
            <div className={css.side}>
              {lineage.data !== undefined && <Icicle lineage={lineage.data} />}
              {lineage.error !== null && lineage.data === undefined && <Problem title="The budgets could not be read" error={lineage.error} />}
              {data !== undefined && !nothing && <Ranking series={data} unit={unit} />}
            </div>
          </div>
        )}
        {used.data !== undefined && <ToolsTable used={used.data} words={WORDS[span.name]} />}
        {used.error !== null && used.data === undefined && <Problem title="The use of tools could not be read" error={used.error} onRetry={() => void used.refetch()} />}
      </div>
    </Page>
  );
}
