import { Play, Send } from 'lucide-react';
import { useRef, useState, type RefObject } from 'react';
import { LISTENING_KINDS } from '../../api/agentFacts';
import { ApiError, callTool, post } from '../../api/client';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { hasEnded } from '../../parts/State';
import { showToast } from '../../parts/toast';
import { openStartAgent } from '../../shell/overlay';
import type { CrewRow, InputOutcome } from '../../api/types';
import { getAgentName } from '../crew/agentText';
import css from './Composer.module.css';

/** Placeholder that tells how the message reaches the agent. */
export function getPlaceholder(row: CrewRow): string {
  const prompt = `Write to ${getAgentName(row)} ${row.short}`;
  if (row.state === 'waiting_review') return `${prompt}. It wakes when the review ends.`;
  if (row.state === 'queued') return `${prompt}. It reads your message when it starts.`;
  if (row.state === 'limited') return `${prompt}. It reads your message when its model is available again.`;
  return row.state === 'running' && LISTENING_KINDS.includes(row.kind) ? prompt : `${prompt}. It receives your message as mail.`;
}

/**
 * Types the message into a listening agent; otherwise, or if the agent does not accept it, sends
 * mail. Returns the way taken.
 */
async function sendToAgent(row: CrewRow, text: string): Promise<'typed' | 'mailed'> {
  if (row.state === 'running' && LISTENING_KINDS.includes(row.kind)) {
    try {
      const { taken } = await post<InputOutcome>(`/api/agents/${row.id}/input`, { line: text });
      if (taken) return 'typed';
    } catch (error) {
      // The agent ended or went to sleep meanwhile; mail still reaches it.
      if (!(error instanceof ApiError) || error.code !== 'INVALID_AGENT_STATE') throw error;
    }
  }
  const firstLine = text.trim().split('\n')[0] ?? '';
  const subject = firstLine.length > 100 ? `${firstLine.slice(0, 99)}…` : firstLine;
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
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isSending = useRef(false);
  if (hasEnded(row.state)) {
    if (row.kind === 'enlisted') return null;
    return (
      <div className={`${css.box} ${css.over}`}>
        <span className="grow">This agent has ended. Another agent can continue its conversation.</span>
        <Button icon={<Play size={14} aria-hidden="true" />} onClick={() => openStartAgent({ resume: row.id })}>
          Resume
        </Button>
      </div>
    );
  }
  const send = async () => {
    if (text.trim() === '' || isSending.current) return;
    isSending.current = true;
    setIsBusy(true);
    setError(null);
    try {
      const way = await sendToAgent(row, text);
      setText('');
      if (way === 'mailed') showToast(`Mailed to ${getAgentName(row)} ${row.short}`);
      onSent();
    } catch (problem) {
      setError(problem);
    } finally {
      isSending.current = false;
      setIsBusy(false);
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
      {error !== null && <Problem error={error} title="The message was not sent; your text is kept" />}
      <div className={css.field}>
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder={getPlaceholder(row)}
          aria-label={`Write to ${getAgentName(row)} ${row.short}`}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              void send();
            } else if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <kbd aria-hidden="true">⌘↵</kbd>
        <Button type="submit" small variant="quiet" disabled={isBusy || text.trim() === ''} icon={<Send size={14} aria-hidden="true" />} aria-label="Send" />
      </div>
    </form>
  );
}
