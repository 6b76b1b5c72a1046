import { memo } from 'react';
import { StateIcon } from '../../parts/State';
import { laneOf, ticksOf, type Axis } from './lanes';
import type { CrewRow } from '../../api/types';
import css from './Lane.module.css';

const percent = (value: number) => `${value.toFixed(3)}%`;

/**
 * Lane of one agent. Drawn relative to the base of the axis, and shifted by a CSS variable of the
 * whole tree.
 */
export const Lane = memo(function Lane({ row, axis, thin = false }: { readonly row: CrewRow; readonly axis: Axis; readonly thin?: boolean }) {
  const lane = laneOf(row, axis);
  return (
    <span className={thin ? `${css.lane} ${css.thin}` : css.lane} aria-hidden="true">
      <span className={css.clip}>
        <span className={css.move}>
          {lane.bars.map((bar) => (
            <i
              key={`${bar.state} ${bar.left}`}
              data-state={bar.state}
              className={bar.faded ? `${css.bar} ${css.faded}` : css.bar}
              style={{ left: percent(bar.left), width: percent(bar.width) }}
            />
          ))}
          {!thin && lane.notches.map((left) => <u key={left} className={css.notch} style={{ left: percent(left) }} />)}
        </span>
      </span>
      {!thin && (
        <span className={css.marks}>
          <span className={css.move}>
            {lane.end !== null && (
              <span className={css.end} style={{ left: percent(lane.end) }}>
                <StateIcon state={row.state} size={12} />
              </span>
            )}
            {lane.limit !== null && <s className={css.limit} style={{ left: percent(lane.limit) }} />}
          </span>
        </span>
      )}
    </span>
  );
});

/** Grid lines behind all lanes, and the line of the current time. */
export function Grid({ axis, window }: { readonly axis: Axis; readonly window: number }) {
  return (
    <div className={css.grid} aria-hidden="true">
      <span className={css.marks}>
        <span className={css.move}>
          {ticksOf(axis, window).map((tick) => (
            <i key={tick.at} className={css.line} style={{ left: percent(tick.left) }} />
          ))}
        </span>
        <i className={css.now} />
      </span>
    </div>
  );
}
