import { took } from '../../parts/format';
import { toolName } from './RecordTable';
import type { NeighbourCall } from '../../api/types';
import { bars } from './trace';
import css from './TraceBars.module.css';

const STATE = { done: 'queued', failed: 'failed', denied: 'waiting_input', begun: 'running' } as const;

interface Props {
  readonly near: readonly NeighbourCall[];
  readonly number: number;
  readonly onOpen: (number: number) => void;
}

/**
 * Calls of the same caller before, during and after a call, on one axis. Distant calls stand at the
 * edge with their distance.
 */
export function TraceBars({ near, number, onOpen }: Props) {
  return (
    <ol className={css.bars}>
      {bars(near, number).map(({ call, self, x, width, away }) => {
        const name = toolName(call.tool)[1];
        const length = away === null ? took(Date.parse(call.at) - Date.parse(call.startedAt)) : `${took(away.ms)} ${away.side}`;
        const side = x > 0.5 ? { right: `${(1 - x - width) * 100}%` } : { left: `${x * 100}%` };
        return (
          <li key={call.number} data-state={self ? (call.outcome === 'done' ? 'succeeded' : STATE[call.outcome]) : STATE[call.outcome]}>
            <button type="button" disabled={self} onClick={() => onOpen(call.number)} aria-label={`${name} ${length}, ${call.outcome}`}>
              <span className={css.label} style={side}>
                {name} <span className="dim">{length}</span>
              </span>
              <i style={{ left: `${x * 100}%`, width: `${width * 100}%` }} data-self={self} />
            </button>
          </li>
        );
      })}
    </ol>
  );
}
