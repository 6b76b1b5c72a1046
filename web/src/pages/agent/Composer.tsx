import { Play, Send } from 'lucide-react';
import { useRef, useState, type RefObject } from 'react';
import { LISTENING_KINDS } from '../../api/agentFacts';
import { ApiError, callTool, post } from '../../api/client';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { isOver } from '../../parts/State';
import { toast } from '../../parts/toast';
import { openStart } from '../../shell/open';
import type { CrewRow, InputOutcome } from '../../api/types';
import { nameOf } from '../crew/words';
import css from './Composer.module.css';

/** Placeholder that tells how the message reaches the agent. */
export function placeholder(row: CrewRow): string {
  const who = `Write to ${nameOf(row)} ${row.short}`;
  if (row.state === 'waiting_review') return `${who}. It is woken when the review ends.`;
  if (row.state === 'queued') return `${who}. It reads your message when it starts.`;
  if (row.state === 'limited') return `${who}. It reads your message when its model is available again.`;
  return row.state === 'running' && LISTENING_KINDS.includes(row.kind) ? who : `${who}. It receives your message as mail.`;
}

/**
 * Types the message into a listening agent; otherwise, or if the agent does not accept it, sends
 * mail. Returns the way taken.
 */
async function tell(row: CrewRow, text: string): Promise<'typed' | 'mailed'> {
  if (row.state === 'running' && LISTENING_KINDS.includes(row.kind)) {
    try {
      const { taken } = await post<InputOutcome>(`/api/agents/${row.id}/input`, { line: text });
      if (taken) return 'typed';
    } catch (error) {
      // The agent ended or went to sleep meanwhile; mail still reaches it.
      if (!(error instanceof ApiError) || error.code !== 'INVALID_AGENT_STATE') throw error;
    }
  }
  const first = text.trim().split('\n')[0] ?? '';
  const subject = first.length > 100 ? `${first.slice(0, 99)}…` : first;
  await callTool('mcp__mail__send', { toAgentId: row.id, subject, body: text });
  return 'mailed';
}

interface Props {
  readonly row: CrewRow;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly onSent: () => void;
}

/** Input for messages to the agent. */
export function Composer({ row, field, onSent }: Props) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const going = useRef(false);
  if (isOver(row.state)) {
    if (row.kind === 'enlisted') return null;
    return (
      <div className={`${css.box} ${css.over}`}>
        <span className="grow">This agent has ended. Another agent can continue its conversation.</span>
        <Button icon={<Play size={14} aria-hidden="true" />} onClick={() => openStart({ resume: row.id })}>
          Resume
        </Button>
      </div>
    );
  }
  const send = async () => {
    if (text.trim() === '' || going.current) return;
    going.current = true;
    setBusy(true);
    setError(null);
    try {
      const how = await tell(row, text);
      setText('');
      if (how === 'mailed') toast(`Mailed to ${nameOf(row)} ${row.short}`);
      onSent();
    } catch (problem) {
      setError(problem);
    } finally {
      going.current = false;
      setBusy(false);
    }
  };
  return (
    <form
      className={css.box}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {error !== null && <Problem error={error} title="It was not sent; your words are still here" />}
      <div className={css.field}>
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder={placeholder(row)}
          aria-label={`Write to ${nameOf(row)} ${row.short}`}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              void send();
            } else if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <kbd aria-hidden="true">⌘↵</kbd>
        <Button type="submit" small look="quiet" disabled={busy || text.trim() === ''} icon={<Send size={14} aria-hidden="true" />} aria-label="Send" />
      </div>
    </form>
  );
}
