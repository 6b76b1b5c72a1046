import { X } from 'lucide-react';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { COLUMN_NAMES, formatTaskNumber } from './moves';
import type { Refusal } from './useMoves';
import css from './TasksPage.module.css';

interface Props {
  readonly refusal: Refusal;
  readonly onForce: () => void;
  readonly onClose: () => void;
}

/** Error of a refused move, with an alternative. */
export function RefusedMove({ refusal, onForce, onClose }: Props) {
  const { row, to, error } = refusal;
  return (
    <div className={css.refused}>
      <Problem error={error} title={`${formatTaskNumber(row.number)} stays in ${COLUMN_NAMES[row.column]}`}>
        {to === 'done' && row.epic !== null && row.column !== 'inReview' && <Button onClick={onForce}>Complete without a review…</Button>}
      </Problem>
      <Button variant="quiet" small icon={<X size={14} />} aria-label="Dismiss" onClick={onClose} />
    </div>
  );
}
