import { callTool, post } from '../../api/client';
import { ConfirmDialog } from '../../parts/ConfirmDialog';
import { CopyButton } from '../../parts/CopyButton';
import { Dialog } from '../../parts/Dialog';
import { pluralize } from '../../parts/format';
import { Skeleton } from '../../parts/Skeleton';
import { showToast } from '../../parts/toast';
import { useAgentDetails, type AgentAction } from './Dock';
import type { Abandoned, CrewRow } from '../../api/types';
import { describeKill, getAgentName } from './agentText';
import css from './AgentDialog.module.css';

interface AgentDialogProps {
  readonly action: AgentAction;
  readonly row: CrewRow;
  readonly onClose: () => void;
  readonly onDone: (ids: readonly string[]) => void;
}

function KillDialog({ row, onClose, onDone }: Omit<AgentDialogProps, 'action'>) {
  const description = describeKill(row);
  const kill = async () => {
    const answer = await callTool('mcp__harness__kill_agent', { agentId: row.id });
    onDone([row.id]);
    showToast(answer.success ? `${getAgentName(row)} ${row.short} was killed` : answer.message);
  };
  return (
    <ConfirmDialog title={description.title} verb={description.verb} onConfirm={kill} onClose={onClose}>
      <ul className={css.lines}>
        {description.lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}

function AbandonDialog({ row, onClose, onDone }: Omit<AgentDialogProps, 'action'>) {
  const abandon = async () => {
    const { branch } = await post<Abandoned>(`/api/reviews/${row.id}/abandon`, { reason: 'abandoned on the page' });
    onDone([row.id]);
    showToast(branch === null ? `${getAgentName(row)} ${row.short} was abandoned` : `Abandoned; its work is kept on ${branch}`);
  };
  return (
    <ConfirmDialog title={`Abandon the work of ${getAgentName(row)} ${row.short}?`} verb="Abandon" onConfirm={abandon} onClose={onClose}>
      <ul className={css.lines}>
        <li>The agent ends{row.liveBelow === 0 ? '' : `, with the ${pluralize(row.liveBelow, 'live agent')} below it`}. The reviewer of its work ends too.</li>
        <li>Its worktree is removed. Its commits stay on its branch; uncommitted changes are kept on a rescue branch.</li>
      </ul>
    </ConfirmDialog>
  );
}

function AttachDialog({ row, onClose }: { readonly row: CrewRow; readonly onClose: () => void }) {
  const { data } = useAgentDetails(row.id);
  return (
    <Dialog title={`Attach to ${getAgentName(row)} ${row.short}`} onClose={onClose}>
      <p className="mid">Run this in a terminal in the project. It shows the agent's stream and sends your input to the agent if its kind supports that.</p>
      <p>
        <CopyButton text={`adjutant attach ${row.id}`} />
      </p>
      {data === undefined && <Skeleton rows={1} />}
      {data !== undefined && data.tmuxSession !== null && (
        <>
          <p className="mid">It also has a tmux session:</p>
          <p>
            <CopyButton text={`tmux attach -t ${data.tmuxSession}`} />
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Dialogs for an agent: kill, abandon, and attach. */
export function AgentDialog({ action, ...rest }: AgentDialogProps) {
  if (action === 'kill') return <KillDialog {...rest} />;
  if (action === 'abandon') return <AbandonDialog {...rest} />;
  return <AttachDialog row={rest.row} onClose={rest.onClose} />;
}
