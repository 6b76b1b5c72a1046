import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { callTool } from '../../api/client';
import { Problem } from '../../parts/Problem';
import { StateIcon } from '../../parts/State';
import { formatMoney, pluralize } from '../../parts/format';
import { formatTaskNumber } from './moves';
import type { TaskDetails } from '../../api/types';
import { TaskMark } from './TaskMark';
import css from './Inspector.module.css';

/** Priority of a task; editable unless the visitor is read-only. */
function PriorityField({ task, readOnly }: { readonly task: TaskDetails; readonly readOnly: boolean }) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  if (readOnly) return <>{task.priority}</>;
  const change = async (priority: number) => {
    setError(null);
    client.setQueryData<TaskDetails>(['task', task.number], (before) => (before === undefined ? before : { ...before, priority }));
    try {
      await callTool('mcp__session__task-update', { id: formatTaskNumber(task.number), priority });
    } catch (problem) {
      setError(problem);
    } finally {
      void client.invalidateQueries({ queryKey: ['task', task.number] });
      void client.invalidateQueries({ queryKey: ['board'] });
    }
  };
  return (
    <>
      <select className={css.priority} aria-label="Priority" value={task.priority} onChange={(event) => void change(Number(event.target.value))}>
        {[0, 1, 2, 3, 4].map((priority) => (
          <option key={priority}>{priority}</option>
        ))}
      </select>
      {error !== null && <Problem error={error} />}
    </>
  );
}

function describeSpending(task: TaskDetails): string {
  const agents = pluralize(task.agents, 'agent');
  if (task.costUsd === null) return task.agents === 0 ? 'nothing yet' : `unknown, ${agents}`;
  return `${formatMoney(task.costUsd)}${task.budgetUsd === null ? '' : ` of ${formatMoney(task.budgetUsd)}`}, ${agents}`;
}

/** Facts of a task. */
export function TaskFacts({ task, readOnly }: { readonly task: TaskDetails; readonly readOnly: boolean }) {
  const { agent } = task;
  return (
    <dl className={css.facts}>
      <dt>State</dt>
      <dd>
        <TaskMark state={task.storedState} column={task.column} />
        {task.reason !== null && <p className="mid">{task.reason}</p>}
      </dd>
      <dt>Priority</dt>
      <dd>
        <PriorityField task={task} readOnly={readOnly} />
      </dd>
      <dt>{task.column === 'ready' || task.column === 'blocked' ? 'Assigned to' : 'Claimed by'}</dt>
      <dd>
        {agent === null ? (
          <span className="dim">no agent</span>
        ) : (
          <Link href={`/agents/${agent.id}`} className={css.agent ?? ''}>
            <StateIcon state={agent.state} /> {agent.role} <span className={css.number}>{agent.short}</span>
          </Link>
        )}
      </dd>
      <dt>Fence</dt>
      <dd>{task.fence === 0 ? <span className="dim">never claimed</span> : `${task.fence}${task.attempts > 0 ? `, ${pluralize(task.attempts, 'attempt')} failed` : ''}`}</dd>
      <dt>Spent</dt>
      <dd>{describeSpending(task)}</dd>
      {task.epic !== null && (
        <>
          <dt>Epic</dt>
          <dd className="cut">{task.epic.title}</dd>
        </>
      )}
      {task.session !== 'default' && (
        <>
          <dt>Session</dt>
          <dd>{task.session}</dd>
        </>
      )}
      {task.branchName !== null && (
        <>
          <dt>Branch</dt>
          <dd className={css.code}>{task.branchName}</dd>
        </>
      )}
      {task.prUrl !== null && (
        <>
          <dt>Pull request</dt>
          <dd className={css.code}>
            {task.pullRequest === null ? task.prUrl : `${task.pullRequest.repository}#${task.pullRequest.number}, ${task.pullRequest.state}`}
          </dd>
        </>
      )}
    </dl>
  );
}
