// The costs page: spending over time and by group, budgets, and the use of tools.
import { CalendarRange, Download, Table2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { useOverview } from '../../api/overview';
import { Button } from '../../parts/Button';
import { getServerTime, useNow } from '../../parts/clock';
import { CopyButton } from '../../parts/CopyButton';
import { Problem } from '../../parts/Problem';
import { SegmentedControl } from '../../parts/SegmentedControl';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { saveFile } from '../record/exportCalls';
import { Figures } from './Figures';
import { Icicle } from './Icicle';
import { useLineage, useSeries, useSummary, useToolFigures } from './queries';
import { Ranking } from './Ranking';
import { SeriesPlot } from './SeriesPlot';
import { SeriesTable } from './SeriesTable';
import type { CostSeries } from '../../api/types';
import { GROUPINGS, formatDay, parseSpan, COST_UNITS, SPAN_TEXTS, type CostGrouping, type SpanName, type CostUnit } from './span';
import { formatSeriesCsv } from './stack';
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
  const [spanName, setSpanName] = useParam<SpanName>('span', 'today');
  const [from, setFrom] = useParam<string>('from', '');
  const [to, setTo] = useParam<string>('to', '');
  const [namedUnit, setUnit] = useParam<CostUnit>('unit', 'money');
  const [namedGrouping, setGrouping] = useParam<CostGrouping>('by', 'role');
  const [agent] = useParam<string>('agent', '');
  const [isTable, setIsTable] = useState(false);
  const unit = COST_UNITS.includes(namedUnit) ? namedUnit : 'money';
  const grouping = GROUPINGS.includes(namedGrouping) ? namedGrouping : 'role';
  // A span starts at midnight, so it changes only with the day.
  const day = new Date(useNow()).toDateString();
  const span = useMemo(() => parseSpan(spanName, from, to, getServerTime()), [spanName, from, to, day]);
  const series = useSeries(span, grouping);
  const summary = useSummary(span);
  const lineage = useLineage(agent);
  const toolFigures = useToolFigures(span);
  const today = useOverview().data?.today;
  const limitUsd = span.name === 'today' ? (today?.limitUsd ?? null) : null;
  useRefreshOnEvents(matchKinds('agent.finished', 'agent.created'), [['costs']], 2000);

  const error = series.error ?? summary.error;
  const data = series.data;
  const isEmpty = data !== undefined && data.keys.length === 0;
  return (
    <Page name="Costs and use">
      <div className={css.bar}>
        <SegmentedControl
          label="Time span"
          value={span.name}
          choices={[
            { value: 'today', label: 'Today' },
            { value: '7d', label: '7 days' },
            { value: '30d', label: '30 days' },
            { value: 'range', label: <span className="sr-only">Custom range</span>, icon: <CalendarRange size={14} aria-hidden="true" /> },
          ]}
          onChange={setSpanName}
        />
        {span.name === 'range' && (
          <span className={css.days}>
            <input type="date" aria-label="From" value={formatDay(span.since)} max={to} onChange={(event) => setFrom(event.target.value)} />
            <input type="date" aria-label="To" value={to === '' ? formatDay(new Date(getServerTime())) : to} min={from} onChange={(event) => setTo(event.target.value)} />
          </span>
        )}
        <SegmentedControl label="Unit" value={unit} choices={[{ value: 'money', label: 'Money' }, { value: 'tokens', label: 'Tokens' }]} onChange={setUnit} />
        <SegmentedControl label="Group by" value={grouping} choices={GROUPINGS.map((value) => ({ value, label: `By ${value}` }))} onChange={setGrouping} />
        <span className="grow" />
        <span className={`${css.source} dim tiny`}>costs as reported by agents, otherwise from the price table</span>
        <Button icon={<Download size={12} aria-hidden="true" />} disabled={data === undefined || isEmpty} onClick={() => data !== undefined && saveFile(`costs-by-${grouping}.csv`, 'text/csv', formatSeriesCsv(data))}>
          Export CSV
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
                <h2>Total, and each {data !== undefined && data.step > 3_600_000 ? 'day' : 'hour'} by {grouping}</h2>
                {data !== undefined && <Legend series={data} />}
                <Button small variant="quiet" icon={<Table2 size={14} aria-hidden="true" />} aria-label="Show as table" aria-pressed={isTable} onClick={() => setIsTable(!isTable)} />
              </div>
              <div className={css.room}>
                {data !== undefined && !isTable && <SeriesPlot series={data} unit={unit} limitUsd={limitUsd} now={getServerTime()} />}
                {data !== undefined && <SeriesTable series={data} unit={unit} visible={isTable} />}
                {isEmpty && !isTable && (
                  <div className={css.empty}>
                    <p className="strong">No spending {SPAN_TEXTS[span.name]}</p>
                    <p className="mid">The usage that agents report is shown here by the hour.</p>
                    <CopyButton text="adjutant draft --role coder 'Fix the parser'" />
                  </div>
                )}
              </div>
            </section>
            <div className={css.side}>
              {lineage.data !== undefined && <Icicle lineage={lineage.data} />}
              {lineage.error !== null && lineage.data === undefined && <Problem title="The budgets could not be read" error={lineage.error} />}
              {data !== undefined && !isEmpty && <Ranking series={data} unit={unit} />}
            </div>
          </div>
        )}
        {toolFigures.data !== undefined && <ToolsTable figures={toolFigures.data} spanText={SPAN_TEXTS[span.name]} />}
        {toolFigures.error !== null && toolFigures.data === undefined && <Problem title="The use of tools could not be read" error={toolFigures.error} onRetry={() => void toolFigures.refetch()} />}
      </div>
    </Page>
  );
}
