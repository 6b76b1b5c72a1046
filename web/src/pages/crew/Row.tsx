import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useEffect, useRef, useState, type ReactNode } from 'react';
import { Elapsed } from '../../parts/Elapsed';
import { money } from '../../parts/format';
import { Meter } from '../../parts/Meter';
import { StateIcon, isOver } from '../../parts/State';
import { Lane } from './Lane';
import { laneWords, type Axis } from './lanes';
import type { CrewRow } from '../../api/types';
import type { Item } from './levels';
import { chipOf, doingOf, nameOf, spentOf, spentWords } from './words';
import css from './Row.module.css';

export type Look = 'wide' | 'phone';

interface Props {
  readonly item: Extract<Item, { kind: 'agent' }>;
  readonly row: CrewRow;
  readonly axis: Axis;
  readonly look: Look;
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
function useChanged(state: string): boolean {
  const before = useRef(state);
  const [changed, setChanged] = useState(false);
  useEffect(() => {
    if (before.current === state) return;
    before.current = state;
    setChanged(true);
    const timer = setTimeout(() => setChanged(false), 1000);
    return () => clearTimeout(timer);
  }, [state]);
  return changed;
}

export const Row = memo(function Row(props: Props) {
  const { item, row, selected, look } = props;
  const changed = useChanged(row.state);
  const classes = [look === 'phone' ? css.phone : css.row, selected && css.selected, isOver(row.state) && css.over, changed && css.changed];
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
      {look === 'phone' ? <PhoneCells {...props} /> : <Cells {...props} />}
    </div>
  );
});

function Fold({ item, row, onFold }: Props) {
  if (!item.foldable) return <span className={css.twist} />;
  const Icon = item.open ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      tabIndex={-1}
      className={css.twist}
      aria-label={item.open ? `Fold ${nameOf(row)} ${row.short}` : `Unfold ${nameOf(row)} ${row.short}`}
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

function Doing({ row }: { readonly row: CrewRow }) {
  const doing = doingOf(row);
  return (
    <span className={doing.asks ? `${css.doing} ${css.asks} cut` : `${css.doing} cut`} title={[doing.tool, doing.text].filter(Boolean).join(' ')}>
      {doing.tool !== null && <b>{doing.tool} </b>}
      {doing.text}
    </span>
  );
}

function Cost({ row }: { readonly row: CrewRow }) {
  const { spent, cap, aside } = spentOf(row);
  if (aside) return <span className={css.aside}>{spentWords(row)}</span>;
  return (
    <span className={css.cost}>
      <span>{spent === null ? '' : money(spent)}</span>
      <span className="dim">{cap === null ? '' : `of ${money(cap)}`}</span>
      <Meter value={spent ?? 0} max={cap} label="Spent of budget" text={spentWords(row)} className={css.meter ?? ''} />
    </span>
  );
}

function taskCell(row: CrewRow): ReactNode {
  const number = row.task === null ? null : `TAS-${row.task.number}`;
  const title = row.task?.title ?? row.epic?.title ?? null;
  return (
    <span className="cut" title={title ?? undefined}>
      {number !== null && <span className={css.id}>{number}</span>}
      <span className={css.title}>{title}</span>
    </span>
  );
}

function Cells(props: Props) {
  const { item, row, axis } = props;
  const chip = chipOf(row);
  const over = isOver(row.state);
  const queued = row.state === 'queued';
  return (
    <>
      <div role="gridcell" className={css.who}>
        <Rails rails={item.rails} last={item.last} />
        <Fold {...props} />
        <StateIcon state={row.state} />
        <b className="cut" title={row.role}>
          {nameOf(row)}
        </b>
        <span className={css.id}>{row.short}</span>
        {chip !== null && <span className={css.chip}>{chip}</span>}
      </div>
      <div role="gridcell" className={css.task}>
        {taskCell(row)}
      </div>
      <div role="gridcell" className={css.doingCell}>
        <Doing row={row} />
      </div>
      <div role="gridcell" className={css.elapsed}>
        {!queued && <Elapsed from={row.startedAt} to={over ? (row.finishedAt ?? row.startedAt) : null} />}
      </div>
      <div role="gridcell" className={css.money}>
        <Cost row={row} />
      </div>
      <div role="gridcell" className={css.laneCell}>
        <Lane row={row} axis={axis} />
        <span className="sr-only">{laneWords(row.segments ?? [], axis.base)}</span>
      </div>
    </>
  );
}

function PhoneCells(props: Props) {
  const { item, row, axis } = props;
  const { spent } = spentOf(row);
  const over = isOver(row.state);
  return (
    <div role="gridcell" className={css.phoneCell}>
      <span className={css.phoneRails}>
        <Rails rails={item.rails} last={item.last} />
        <StateIcon state={row.state} size={16} />
      </span>
      <span className="grow">
        <span className="row">
          <b className="cut">{nameOf(row)}</b>
          <span className={css.id}>{row.task === null ? row.short : `TAS-${row.task.number}`}</span>
        </span>
        <Doing row={row} />
      </span>
      <span className={css.phoneRight}>
        <span className={css.phoneTop}>
          <span>{spent === null || (row.state === 'queued' && spent === 0) ? '' : money(spent)}</span>
          <span className="dim tiny">
            {row.state === 'queued' ? 'queued' : <Elapsed from={row.startedAt} to={over ? (row.finishedAt ?? row.startedAt) : null} rough />}
          </span>
        </span>
        <Lane row={row} axis={axis} thin />
      </span>
    </div>
  );
}
