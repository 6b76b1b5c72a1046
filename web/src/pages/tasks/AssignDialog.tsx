import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callTool, get } from '../../api/client';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { getStateLook } from '../../parts/State';
import { shortenId } from '../../parts/format';
import { showToast } from '../../parts/toast';
import { openStartAgent } from '../../shell/overlay';
import { formatTaskNumber } from './moves';
import type { Agents, TaskRow } from '../../api/types';

const MAX_AGENTS = 200;

/** Dialog that assigns a task to a live agent, or starts one for it. */
export function AssignDialog({ row, onClose }: { readonly row: TaskRow; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [agent, setAgent] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const agents = useQuery({
    queryKey: ['agents', 'live'],
    queryFn: ({ signal }) => get<Agents>('/api/agents', { limit: MAX_AGENTS }, signal),
  });
  const assign = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await callTool('mcp__task__assign', { taskId: formatTaskNumber(row.number), agentId: agent });
      void client.invalidateQueries({ queryKey: ['board'] });
      void client.invalidateQueries({ queryKey: ['task', row.number] });
      showToast(`${formatTaskNumber(row.number)} is assigned to ${shortenId(agent)}.`);
      onClose();
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const start = () => {
    onClose();
    openStartAgent({ task: row.slug, prompt: `Work on ${formatTaskNumber(row.number)}: ${row.title}` });
  };
  const footer = (
    <>
      <Button onClick={start}>Start an agent</Button>
      <Button variant="primary" disabled={agent === '' || isBusy} onClick={() => void assign()}>
        Assign
      </Button>
    </>
  );
  const liveAgents = agents.data?.agents ?? [];
  return (
    <Dialog title={`Assign ${formatTaskNumber(row.number)}`} onClose={onClose} footer={footer}>
      <p className="mid">It becomes the agent's current task. A task in progress is first moved back to Ready.</p>
      {agents.error !== null && <Problem error={agents.error} title="The agents could not be read" onRetry={() => void agents.refetch()} />}
      <Field label="Agent" help={liveAgents.length === 0 ? 'There is no live agent. Start one for this task.' : 'Live agents'}>
        {(control) => (
          <select {...control} value={agent} onChange={(event) => setAgent(event.target.value)} disabled={liveAgents.length === 0}>
            <option value="">Choose an agent</option>
            {liveAgents.map((one) => (
              <option key={one.id} value={one.id}>
                {one.role} {shortenId(one.id)}, {getStateLook(one.state).label.toLowerCase()}
                {one.taskSlug === null ? '' : `, on ${one.taskSlug}`}
              </option>
            ))}
          </select>
        )}
      </Field>
      {error !== null && <Problem error={error} />}
    </Dialog>
  );
}
