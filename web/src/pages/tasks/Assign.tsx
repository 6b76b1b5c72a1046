import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callTool, get } from '../../api/client';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { lookOf } from '../../parts/State';
import { shortId } from '../../parts/format';
import { toast } from '../../parts/toast';
import { openStart } from '../../shell/open';
import { name } from './moves';
import type { Agents, TaskRow } from '../../api/types';

const MOST = 200;

/** Dialog that assigns a task to a live agent, or starts one for it. */
export function Assign({ row, onClose }: { readonly row: TaskRow; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [agent, setAgent] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const agents = useQuery({
    queryKey: ['agents', 'live'],
    queryFn: ({ signal }) => get<Agents>('/api/agents', { limit: MOST }, signal),
  });
  const give = async () => {
    setBusy(true);
    setError(null);
    try {
      await callTool('mcp__task__assign', { taskId: name(row.number), agentId: agent });
      void client.invalidateQueries({ queryKey: ['board'] });
      void client.invalidateQueries({ queryKey: ['task', row.number] });
      toast(`${name(row.number)} is assigned to ${shortId(agent)}.`);
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const start = () => {
    onClose();
    openStart({ task: row.slug, prompt: `Work on ${name(row.number)}: ${row.title}` });
  };
  const foot = (
    <>
      <Button onClick={start}>Start an agent for it</Button>
      <Button look="primary" disabled={agent === '' || busy} onClick={() => void give()}>
        Assign
      </Button>
    </>
  );
  const list = agents.data?.agents ?? [];
  return (
    <Dialog title={`Assign ${name(row.number)}`} onClose={onClose} foot={foot}>
      <p className="mid">It becomes the agent's current task. A task in progress is first moved back to Ready.</p>
      {agents.error !== null && <Problem error={agents.error} title="The agents could not be read" onRetry={() => void agents.refetch()} />}
      <Field label="Agent" help={list.length === 0 ? 'There is no live agent. Start one for this task.' : 'Live agents'}>
        {(control) => (
          <select {...control} value={agent} onChange={(event) => setAgent(event.target.value)} disabled={list.length === 0}>
            <option value="">choose one</option>
            {list.map((one) => (
              <option key={one.id} value={one.id}>
                {one.role} {shortId(one.id)}, {lookOf(one.state).word.toLowerCase()}
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
