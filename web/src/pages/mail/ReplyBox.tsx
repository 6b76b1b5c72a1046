// Reply box: shows the recipient of the answer and when the agent reads it.
import { PenLine, Send, Zap } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useLiveState } from '../../api/live';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { hasEnded } from '../../parts/State';
import { showToast } from '../../parts/toast';
import { pluralize } from '../../parts/format';
import { canSend, buildReply } from './answers';
import { listUnread, useMailActions } from './queries';
import type { OfferView, PersonView, Thread, ThreadMail } from '../../api/types';
import { getPersonName } from './threads';
import css from './ReplyBox.module.css';

/** Server limit for the length of mail. */
const MAX_MAIL_LENGTH = 100_000;

interface Props {
  readonly thread: Thread;
  readonly question: ThreadMail | null;
  readonly chosen: OfferView | null;
  readonly task: { readonly number: number } | null;
  readonly onSent: () => void;
  readonly onWrite: (agentId: string) => void;
}

/** Describes the recipient of an answer, and when the agent reads it. */
export function describeDelivery(thread: Thread, recipient: PersonView): { readonly text: string; readonly at: 'once' | 'later' } {
  if (recipient.state !== null && hasEnded(recipient.state)) {
    return { text: `${getPersonName(recipient)} has ended: the answer goes to the next agent of its task, or back to you.`, at: 'later' };
  }
  const waitingText = thread.waitsBehind.length > 0 ? ` ${pluralize(thread.waitsBehind.length, 'task waits', 'tasks wait')} for it.` : '';
  if (thread.wakes) return { text: `Wakes ${recipient.short ?? getPersonName(recipient)} at once.${waitingText}`, at: 'once' };
  return { text: `${getPersonName(recipient)} reads it when it next checks its inbox.${waitingText}`, at: 'later' };
}

export function ReplyBox({ thread, question, chosen, task, onSent, onWrite }: Props) {
  const [answer, setAnswer] = useState('');
  const [addsComment, setAddsComment] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const isDisconnected = useLiveState().phase === 'disconnected';
  const actions = useMailActions();
  // An offer chosen by its key can be sent with the next key.
  useEffect(() => {
    if (chosen !== null) button.current?.focus();
  }, [chosen]);
  const { with: partner, replyTo } = thread;
  if (partner === null || partner.agentId === null) return null;
  const { agentId } = partner;
  if (replyTo === null) {
    return (
      <div className={css.foot}>
        <p className="small dim grow">You cannot answer this mail.</p>
        <Button icon={<PenLine size={14} aria-hidden="true" />} onClick={() => onWrite(agentId)}>
          Write to {getPersonName(partner)}
        </Button>
      </div>
    );
  }
  const canSubmit = canSend(question, chosen, answer) && !isBusy && !isDisconnected;
  const send = async () => {
    if (!canSubmit) return;
    setIsBusy(true);
    setError(null);
    try {
      const body = buildReply(chosen, answer);
      const note = await actions.reply(replyTo, body);
      setAnswer('');
      onSent();
      showToast(note ?? `Sent to ${getPersonName(partner)}`);
      if (addsComment && task !== null) await actions.comment(task.number, body);
      // Answered mail counts as read.
      await actions.markRead(listUnread(thread));
    } catch (problem) {
      setError(problem);
    } finally {
      setIsBusy(false);
    }
  };
  const { text, at } = describeDelivery(thread, partner);
  const isPermission = question?.kind === 'permission';
  const placeholder = isPermission
    ? 'Reason (optional)'
    : chosen !== null
      ? 'Add a comment (optional)'
      : question !== null && question.options.length > 0
        ? 'Choose an answer above, or write your own'
        : `Answer ${getPersonName(partner)}`;
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
          value={answer}
          maxLength={MAX_MAIL_LENGTH}
          onChange={(event) => setAnswer(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              void send();
            }
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
        />
        <div className={css.acts}>
          <span className={`small dim ${css.delivery}`}>
            {at === 'once' && <Zap size={12} aria-hidden="true" />}
            <span>{isPermission && chosen === null ? 'Choose Allow or Deny first.' : text}</span>
          </span>
          {task !== null && (
            <label className={css.comment}>
              <input type="checkbox" checked={addsComment} onChange={(event) => setAddsComment(event.target.checked)} />
              Add as a task comment
            </label>
          )}
          <Button ref={button} type="submit" variant="primary" disabled={!canSubmit} icon={<Send size={14} aria-hidden="true" />} hint="⌘↵" title={isDisconnected ? 'The server does not answer' : undefined}>
            {chosen === null || isPermission ? (isPermission && chosen !== null ? chosen.text : 'Send') : `Send ${chosen.number}`}
          </Button>
        </div>
      </form>
    </div>
  );
}
