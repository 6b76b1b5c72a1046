import { memo } from 'react';
import { StateIcon } from '../../parts/State';
import { layOutLane, buildTicks, type LaneAxis } from './lanes';
import type { CrewRow } from '../../api/types';
import css from './Lane.module.css';

const formatPercent = (value: number) => `${value.toFixed(3)}%`;

/**
 * Lane of one agent. Drawn relative to the base of the axis, and shifted by a CSS variable of the
 * whole tree.
 */
export const Lane = memo(function Lane({ row, axis, thin = false }: { readonly row: CrewRow; readonly axis: LaneAxis; readonly thin?: boolean }) {
  const lane = layOutLane(row, axis);
  return (
    <span className={thin ? `${css.lane} ${css.thin}` : css.lane} aria-hidden="true">
      <span className={css.clip}>
        <span className={css.move}>
          {lane.bars.map((bar) => (
            <i
              key={`${bar.state} ${bar.left}`}
              data-state={bar.state}
              className={bar.isFaded ? `${css.bar} ${css.faded}` : css.bar}
              style={{ left: formatPercent(bar.left), width: formatPercent(bar.width) }}
            />
          ))}
          {!thin && lane.notches.map((left) => <u key={left} className={css.notch} style={{ left: formatPercent(left) }} />)}
        </span>
      </span>
      {!thin && (
        <span className={css.marks}>
          <span className={css.move}>
            {lane.end !== null && (
              <span className={css.end} style={{ left: formatPercent(lane.end) }}>
                <StateIcon state={row.state} size={12} />
              </span>
            )}
            {lane.limit !== null && <s className={css.limit} style={{ left: formatPercent(lane.limit) }} />}
          </span>
        </span>
      )}
    </span>
  );
});

/** Grid lines behind all lanes, and the line of the current time. */
export function LaneGrid({ axis, window }: { readonly axis: LaneAxis; readonly window: number }) {
  return (
    <div className={css.grid} aria-hidden="true">
      <span className={css.marks}>
        <span className={css.move}>
          {buildTicks(axis, window).map((tick) => (
            <i key={tick.at} className={css.line} style={{ left: formatPercent(tick.left) }} />
          ))}
        </span>
        <i className={css.now} />
      </span>
    </div>
  );
}
