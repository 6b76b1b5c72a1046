import { Play, Reply, RotateCcw } from 'lucide-react';
import { useLocation } from 'wouter';
import { Button } from '../../parts/Button';
import { isOver } from '../../parts/State';
import { openStart } from '../../shell/open';
import type { InspectorProps } from './Inspector';
import { name } from './moves';
import type { TaskDetails } from '../../api/types';
import css from './Inspector.module.css';

/** Actions on a task, the most likely first. */
export function InspectorActs({ task, readOnly, onAssign, onMove, onCancel }: InspectorProps & { readonly task: TaskDetails }) {
  const [, go] = useLocation();
  if (readOnly || task.storedState === 'completed') return null;
  const { agent } = task;
  const free = agent === null || isOver(agent.state);
  const over = task.column === 'done';
  return (
    <div className={css.acts}>
      {agent?.asks !== null && agent?.asks !== undefined && (
        <Button look="primary" icon={<Reply size={14} aria-hidden="true" />} onClick={() => go(`/mail/${agent.asks?.mailId ?? ''}`)}>
          Answer {agent.short}
        </Button>
      )}
      {over && (
        <Button look="primary" icon={<RotateCcw size={14} aria-hidden="true" />} onClick={() => onMove(task, 'ready')}>
          {task.storedState === 'failed' ? 'Retry' : 'Take up again'}
        </Button>
      )}
      {!over && task.column !== 'inReview' && free && (
        <Button
          look="primary"
          icon={<Play size={14} aria-hidden="true" />}
          onClick={() => openStart({ task: task.slug, prompt: `Work on ${name(task.number)}: ${task.title}` })}
        >
          Start agent
        </Button>
      )}
      {!over && <Button onClick={() => onAssign(task)}>{agent === null ? 'Assign' : 'Reassign'}</Button>}
      {!over && task.column !== 'inReview' && (
        <Button look="danger" onClick={() => onCancel(task)}>
          Cancel task
        </Button>
      )}
    </div>
  );
}
