// Reply box: shows the recipient of the answer and when the agent reads it.
import { PenLine, Send, Zap } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useLiveState } from '../../api/live';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { isOver } from '../../parts/State';
import { toast } from '../../parts/toast';
import { plural } from '../../parts/format';
import { canSend, replyOf } from './answers';
import { unreadOf, useActs } from './queries';
import type { Offer, Person, Thread, ThreadLetter } from '../../api/types';
import { nameOf } from './threads';
import css from './ReplyBox.module.css';

/** Server limit for the length of mail. */
const LONGEST = 100_000;

interface Props {
  readonly thread: Thread;
  readonly asked: ThreadLetter | null;
  readonly taken: Offer | null;
  readonly task: { readonly number: number } | null;
  readonly onSent: () => void;
  readonly onWrite: (agentId: string) => void;
}

/** Describes the recipient of an answer, and when the agent reads it. */
export function whither(thread: Thread, other: Person): { readonly text: string; readonly at: 'once' | 'later' } {
  if (other.state !== null && isOver(other.state)) {
    return { text: `${nameOf(other)} has ended: the answer goes to the next agent of its task, or back to you.`, at: 'later' };
  }
  const behind = thread.waitsBehind.length > 0 ? ` ${plural(thread.waitsBehind.length, 'task waits', 'tasks wait')} with it.` : '';
  if (thread.wakes) return { text: `Wakes ${other.short ?? nameOf(other)} at once.${behind}`, at: 'once' };
  return { text: `${nameOf(other)} reads it when it next checks its inbox.${behind}`, at: 'later' };
}

export function ReplyBox({ thread, asked, taken, task, onSent, onWrite }: Props) {
  const [words, setWords] = useState('');
  const [comment, setComment] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const away = useLiveState().phase === 'away';
  const acts = useActs();
  // An offer chosen by its key can be sent with the next key.
  useEffect(() => {
    if (taken !== null) button.current?.focus();
  }, [taken]);
  const { with: other, replyTo } = thread;
  if (other === null || other.agentId === null) return null;
  const { agentId } = other;
  if (replyTo === null) {
    return (
      <div className={css.foot}>
        <p className="small dim grow">You cannot answer this mail.</p>
        <Button icon={<PenLine size={14} aria-hidden="true" />} onClick={() => onWrite(agentId)}>
          Write to {nameOf(other)}
        </Button>
      </div>
    );
  }
  const ready = canSend(asked, taken, words) && !busy && !away;
  const send = async () => {
    if (!ready) return;
    setBusy(true);
    setError(null);
    try {
      const body = replyOf(taken, words);
      const note = await acts.reply(replyTo, body);
      setWords('');
      onSent();
      toast(note ?? `Sent to ${nameOf(other)}`);
      if (comment && task !== null) await acts.comment(task.number, body);
      // Answered mail counts as read.
      await acts.markRead(unreadOf(thread));
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const { text, at } = whither(thread, other);
  const permission = asked?.kind === 'permission';
  const placeholder = permission
    ? 'Reason (optional)'
    : taken !== null
      ? 'Add a comment (optional)'
      : asked !== null && asked.options.length > 0
        ? 'Choose an answer above, or write your own'
        : `Answer ${nameOf(other)}`;
  return (
    <div className={css.foot}>
      {error !== null && <Problem error={error} title="The answer could not be sent" />}
      <form
        className={css.box}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <textarea
          ref={box}
          aria-label="Your answer"
          placeholder={placeholder}
          value={words}
          maxLength={LONGEST}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              void send();
            }
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <div className={css.acts}>
          <span className={`small dim ${css.whither}`}>
            {at === 'once' && <Zap size={12} aria-hidden="true" />}
            <span>{permission && taken === null ? 'Choose Allow or Deny first.' : text}</span>
          </span>
          {task !== null && (
            <label className={css.comment}>
              <input type="checkbox" checked={comment} onChange={(event) => setComment(event.target.checked)} />
              Also as a task comment
            </label>
          )}
          <Button ref={button} type="submit" look="primary" disabled={!ready} icon={<Send size={14} aria-hidden="true" />} hint="⌘↵" title={away ? 'The server does not answer' : undefined}>
            {taken === null || permission ? (permission && taken !== null ? taken.text : 'Send') : `Send ${taken.number}`}
          </Button>
        </div>
      </form>
    </div>
  );
}
