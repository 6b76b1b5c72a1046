import { Play, Reply, RotateCcw } from 'lucide-react';
import { useLocation } from 'wouter';
import { Button } from '../../parts/Button';
import { hasEnded } from '../../parts/State';
import { openStartAgent } from '../../shell/overlay';
import type { InspectorProps } from './Inspector';
import { formatTaskNumber } from './moves';
import type { TaskDetails } from '../../api/types';
import css from './Inspector.module.css';

/** Actions on a task, the most likely first. */
export function InspectorActions({ task, readOnly, onAssign, onMove, onCancel }: InspectorProps & { readonly task: TaskDetails }) {
  const [, navigate] = useLocation();
  if (readOnly || task.storedState === 'completed') return null;
  const { agent } = task;
  const isFree = agent === null || hasEnded(agent.state);
  const isClosed = task.column === 'done';
  return (
    <div className={css.acts}>
      {agent?.asks !== null && agent?.asks !== undefined && (
        <Button variant="primary" icon={<Reply size={14} aria-hidden="true" />} onClick={() => navigate(`/mail/${agent.asks?.mailId ?? ''}`)}>
          Answer {agent.short}
        </Button>
      )}
      {isClosed && (
        <Button variant="primary" icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => onMove(task, 'ready')}>
          {task.storedState === 'failed' ? 'Retry' : 'Reopen'}
        </Button>
      )}
      {!isClosed && task.column !== 'inReview' && isFree && (
        <Button
          variant="primary"
          icon={<Play size={14} aria-hidden="true" />}
          onClick={() => openStartAgent({ task: task.slug, prompt: `Work on ${formatTaskNumber(task.number)}: ${task.title}` })}
        >
          Start agent
        </Button>
      )}
      {!isClosed && <Button onClick={() => onAssign(task)}>{agent === null ? 'Assign' : 'Reassign'}</Button>}
      {!isClosed && task.column !== 'inReview' && (
        <Button variant="danger" onClick={() => onCancel(task)}>
          Cancel task
        </Button>
      )}
    </div>
  );
}
