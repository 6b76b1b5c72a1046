import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useEffect, useRef, useState, type ReactNode } from 'react';
import { Elapsed } from '../../parts/Elapsed';
import { formatMoney } from '../../parts/format';
import { Meter } from '../../parts/Meter';
import { StateIcon, hasEnded } from '../../parts/State';
import { Lane } from './Lane';
import { describeLane, type LaneAxis } from './lanes';
import type { CrewRow } from '../../api/types';
import type { TreeItem } from './levels';
import { getChip, describeActivity, getAgentName, getSpending, describeSpending } from './agentText';
import css from './AgentRow.module.css';

export type RowLayout = 'wide' | 'phone';

interface RowProps {
  readonly item: Extract<TreeItem, { kind: 'agent' }>;
  readonly row: CrewRow;
  readonly axis: LaneAxis;
  readonly layout: RowLayout;
  readonly selected: boolean;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onFold: (id: string, open: boolean) => void;
}

/** Lines that connect a row with its ancestors. */
export function Rails({ rails, last }: { readonly rails: readonly boolean[]; readonly last: boolean }) {
  return (
    <>
      {rails.map((_, level) => {
        const own = level === rails.length - 1;
        const classes = [css.rail, own && css.joint, own && last && css.corner, !own && !(rails[level + 1] ?? false) && css.none];
        return <span key={level} className={classes.filter(Boolean).join(' ')} />;
      })}
    </>
  );
}

/** True for a second after a state change. */
function useJustChanged(state: string): boolean {
  const previous = useRef(state);
  const [hasChanged, setHasChanged] = useState(false);
  useEffect(() => {
    if (previous.current === state) return;
    previous.current = state;
    setHasChanged(true);
    const timer = setTimeout(() => setHasChanged(false), 1000);
    return () => clearTimeout(timer);
  }, [state]);
  return hasChanged;
}

export const AgentRow = memo(function Row(props: RowProps) {
  const { item, row, selected, layout } = props;
  const hasChanged = useJustChanged(row.state);
  const classes = [layout === 'phone' ? css.phone : css.row, selected && css.selected, hasEnded(row.state) && css.over, hasChanged && css.changed];
  return (
    <div
      id={`crew-${row.id}`}
      role="row"
      data-state={row.state}
      className={classes.filter(Boolean).join(' ')}
      aria-level={item.level}
      aria-posinset={item.pos}
      aria-setsize={item.size}
      aria-selected={selected}
      aria-expanded={item.foldable ? item.open : undefined}
      onClick={() => props.onSelect(row.id)}
      onDoubleClick={() => props.onOpen(row.id)}
    >
      {layout === 'phone' ? <PhoneCells {...props} /> : <WideCells {...props} />}
    </div>
  );
});

function FoldButton({ item, row, onFold }: RowProps) {
  if (!item.foldable) return <span className={css.foldButton} />;
  const Icon = item.open ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      tabIndex={-1}
      className={css.foldButton}
      aria-label={item.open ? `Fold ${getAgentName(row)} ${row.short}` : `Unfold ${getAgentName(row)} ${row.short}`}
      onClick={(event) => {
        event.stopPropagation();
        onFold(row.id, !item.open);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <Icon size={12} aria-hidden="true" />
    </button>
  );
}

function ActivityText({ row }: { readonly row: CrewRow }) {
  const doing = describeActivity(row);
  return (
    <span className={doing.isQuestion ? `${css.activity} ${css.asks} cut` : `${css.activity} cut`} title={[doing.tool, doing.text].filter(Boolean).join(' ')}>
      {doing.tool !== null && <b>{doing.tool} </b>}
      {doing.text}
    </span>
  );
}

function CostText({ row }: { readonly row: CrewRow }) {
  const { spent, cap, isReserved } = getSpending(row);
  if (isReserved) return <span className={css.reserved}>{describeSpending(row)}</span>;
  return (
    <span className={css.cost}>
      <span>{spent === null ? '' : formatMoney(spent)}</span>
      <span className="dim">{cap === null ? '' : `of ${formatMoney(cap)}`}</span>
      <Meter value={spent ?? 0} max={cap} label="Spent of budget" text={describeSpending(row)} className={css.meter ?? ''} />
    </span>
  );
}

function renderTask(row: CrewRow): ReactNode {
  const number = row.task === null ? null : `TAS-${row.task.number}`;
  const title = row.task?.title ?? row.epic?.title ?? null;
  return (
    <span className="cut" title={title ?? undefined}>
      {number !== null && <span className={css.id}>{number}</span>}
      <span className={css.title}>{title}</span>
    </span>
  );
}

function WideCells(props: RowProps) {
  const { item, row, axis } = props;
  const chip = getChip(row);
  const isEnded = hasEnded(row.state);
  const isQueued = row.state === 'queued';
  return (
    <>
      <div role="gridcell" className={css.agent}>
        <Rails rails={item.rails} last={item.last} />
        <FoldButton {...props} />
        <StateIcon state={row.state} />
        <b className="cut" title={row.role}>
          {getAgentName(row)}
        </b>
        <span className={css.id}>{row.short}</span>
        {chip !== null && <span className={css.chip}>{chip}</span>}
      </div>
      <div role="gridcell" className={css.task}>
        {renderTask(row)}
      </div>
      <div role="gridcell" className={css.activityCell}>
        <ActivityText row={row} />
      </div>
      <div role="gridcell" className={css.elapsed}>
        {!isQueued && <Elapsed from={row.startedAt} to={isEnded ? (row.finishedAt ?? row.startedAt) : null} />}
      </div>
      <div role="gridcell" className={css.money}>
        <CostText row={row} />
      </div>
      <div role="gridcell" className={css.laneCell}>
        <Lane row={row} axis={axis} />
        <span className="sr-only">{describeLane(row.segments ?? [], axis.base)}</span>
      </div>
    </>
  );
}

function PhoneCells(props: RowProps) {
  const { item, row, axis } = props;
  const { spent } = getSpending(row);
  const isEnded = hasEnded(row.state);
  return (
    <div role="gridcell" className={css.phoneCell}>
      <span className={css.phoneRails}>
        <Rails rails={item.rails} last={item.last} />
        <StateIcon state={row.state} size={16} />
      </span>
      <span className="grow">
        <span className="row">
          <b className="cut">{getAgentName(row)}</b>
          <span className={css.id}>{row.task === null ? row.short : `TAS-${row.task.number}`}</span>
        </span>
        <ActivityText row={row} />
      </span>
      <span className={css.phoneRight}>
        <span className={css.phoneTop}>
          <span>{spent === null || (row.state === 'queued' && spent === 0) ? '' : formatMoney(spent)}</span>
          <span className="dim tiny">
            {row.state === 'queued' ? 'queued' : <Elapsed from={row.startedAt} to={isEnded ? (row.finishedAt ?? row.startedAt) : null} rough />}
          </span>
        </span>
        <Lane row={row} axis={axis} thin />
      </span>
    </div>
  );
}
