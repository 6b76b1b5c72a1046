import { callTool, post } from '../../api/client';
import { Confirm } from '../../parts/Confirm';
import { Copy } from '../../parts/Copy';
import { Dialog } from '../../parts/Dialog';
import { plural } from '../../parts/format';
import { Skeleton } from '../../parts/Skeleton';
import { toast } from '../../parts/toast';
import { useWhole, type Asking } from './Dock';
import type { Abandoned, CrewRow } from '../../api/types';
import { killWords, nameOf } from './words';
import css from './Asks.module.css';

interface Props {
  readonly what: Asking;
  readonly row: CrewRow;
  readonly onClose: () => void;
  readonly onDone: (ids: readonly string[]) => void;
}

function Kill({ row, onClose, onDone }: Omit<Props, 'what'>) {
  const words = killWords(row);
  const kill = async () => {
    const answer = await callTool('mcp__harness__kill_agent', { agentId: row.id });
    onDone([row.id]);
    toast(answer.success ? `${nameOf(row)} ${row.short} was killed` : answer.message);
  };
  return (
    <Confirm title={words.title} verb={words.verb} onConfirm={kill} onClose={onClose}>
      <ul className={css.lines}>
        {words.lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Confirm>
  );
}

function Abandon({ row, onClose, onDone }: Omit<Props, 'what'>) {
  const abandon = async () => {
    const { branch } = await post<Abandoned>(`/api/reviews/${row.id}/abandon`, { reason: 'abandoned on the page' });
    onDone([row.id]);
    toast(branch === null ? `${nameOf(row)} ${row.short} was abandoned` : `Abandoned; its work is kept on ${branch}`);
  };
  return (
    <Confirm title={`Abandon the work of ${nameOf(row)} ${row.short}?`} verb="Abandon" onConfirm={abandon} onClose={onClose}>
      <ul className={css.lines}>
        <li>It ends{row.liveBelow === 0 ? '' : `, with the ${plural(row.liveBelow, 'live agent')} below it`}. The reviewer of its work ends too.</li>
        <li>Its worktree is removed. Its commits stay on its branch; uncommitted changes are kept on a rescue branch.</li>
      </ul>
    </Confirm>
  );
}

function Attach({ row, onClose }: { readonly row: CrewRow; readonly onClose: () => void }) {
  const { data } = useWhole(row.id);
  return (
    <Dialog title={`Attach to ${nameOf(row)} ${row.short}`} onClose={onClose}>
      <p className="mid">Run this in a terminal in the project. It shows the agent's stream and sends your input to the agent if its kind supports that.</p>
      <p>
        <Copy text={`adjutant attach ${row.id}`} />
      </p>
      {data === undefined && <Skeleton rows={1} />}
      {data !== undefined && data.tmuxSession !== null && (
        <>
          <p className="mid">It has a tmux session too:</p>
          <p>
            <Copy text={`tmux attach -t ${data.tmuxSession}`} />
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Dialogs for an agent: kill, abandon, and attach. */
export function Asks({ what, ...rest }: Props) {
  if (what === 'kill') return <Kill {...rest} />;
  if (what === 'abandon') return <Abandon {...rest} />;
  return <Attach row={rest.row} onClose={rest.onClose} />;
}
