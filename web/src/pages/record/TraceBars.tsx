import { formatLatency } from '../../parts/format';
import { splitToolName } from './RecordTable';
import type { NeighbourCall } from '../../api/types';
import { buildTraceBars } from './trace';
import css from './TraceBars.module.css';

const OUTCOME_STATES = { done: 'queued', failed: 'failed', denied: 'waiting_input', begun: 'running' } as const;

interface Props {
  readonly neighbours: readonly NeighbourCall[];
  readonly number: number;
  readonly onOpen: (number: number) => void;
}

/**
 * Calls of the same caller before, during and after a call, on one axis. Distant calls stand at the
 * edge with their distance.
 */
export function TraceBars({ neighbours, number, onOpen }: Props) {
  return (
    <ol className={css.bars}>
      {buildTraceBars(neighbours, number).map(({ call, isSelf, x, width, offset }) => {
        const name = splitToolName(call.tool)[1];
        const length = offset === null ? formatLatency(Date.parse(call.at) - Date.parse(call.startedAt)) : `${formatLatency(offset.ms)} ${offset.side}`;
        const side = x > 0.5 ? { right: `${(1 - x - width) * 100}%` } : { left: `${x * 100}%` };
        return (
          <li key={call.number} data-state={isSelf ? (call.outcome === 'done' ? 'succeeded' : OUTCOME_STATES[call.outcome]) : OUTCOME_STATES[call.outcome]}>
            <button type="button" disabled={isSelf} onClick={() => onOpen(call.number)} aria-label={`${name} ${length}, ${call.outcome}`}>
              <span className={css.label} style={side}>
                {name} <span className="dim">{length}</span>
              </span>
              <i style={{ left: `${x * 100}%`, width: `${width * 100}%` }} data-self={isSelf} />
            </button>
          </li>
        );
      })}
    </ol>
  );
}
