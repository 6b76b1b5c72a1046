// One thread: its mail, the offered answers, a reply box, and the sender.
import { ArrowLeft, Check, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { showToast } from '../../parts/toast';
import { pluralize } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import { MailMessage } from './MailMessage';
import { listUnread, useMailActions, useThread } from './queries';
import { ReplyBox } from './ReplyBox';
import { SenderPanel, SenderState, useSenderRow } from './SenderPanel';
import type { Thread } from '../../api/types';
import { getPersonName } from './threads';
import css from './ThreadPane.module.css';

interface Props {
  readonly id: string;
  readonly onBack: () => void;
  readonly onDone: (threadId: string) => void;
  readonly onWrite: (agentId: string) => void;
}

export function ThreadPane({ id, ...callbacks }: Props) {
  const { data, error, refetch } = useThread(id);
  if (data !== undefined) return <LoadedThread thread={data} {...callbacks} />;
  return (
    <div className={css.pane}>
      <section className={css.thread}>
        {error === null ? <Skeleton rows={6} height={64} /> : <Problem error={error} title="This thread could not be read" onRetry={() => void refetch()} />}
      </section>
    </div>
  );
}

function LoadedThread({ thread, onBack, onDone, onWrite }: { readonly thread: Thread } & Omit<Props, 'id'>) {
  const readOnly = useReadOnly();
  const actions = useMailActions();
  const sender = useSenderRow(thread.with?.agentId ?? null);
  const [error, setError] = useState<unknown>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const unread = listUnread(thread);
  const question = thread.letters.find((mail) => mail.needsAnswer) ?? null;
  const offers = readOnly ? [] : (question?.options ?? []);
  const markRead = async () => {
    setError(null);
    try {
      await actions.markRead(unread);
      showToast('Marked as read');
      onDone(thread.threadId);
    } catch (problem) {
      setError(problem);
    }
  };
  useKeys({
    ...(readOnly || unread.length === 0 ? {} : { e: () => void markRead() }),
    ...Object.fromEntries(offers.map((offer) => [String(offer.number), () => setChosen(offer.number)])),
  });
  const { with: partner } = thread;
  return (
    <div className={css.pane}>
      <section className={css.thread} aria-label={thread.subject}>
        <header className={css.head}>
          <Button variant="quiet" icon={<ArrowLeft size={16} />} aria-label="Back to the list" className={css.back ?? ''} onClick={onBack} />
          <h2>{thread.subject}</h2>
          {!readOnly && unread.length > 0 && (
            <Button icon={<Check size={14} aria-hidden="true" />} hint="e" title="Mark as read" className={css.read ?? ''} onClick={() => void markRead()}>
              <span>Mark as read</span>
            </Button>
          )}
        </header>
        {partner?.agentId != null && (
          <Link href={`/agents/${partner.agentId}`} className={css.strip}>
            {sender.data !== undefined && <SenderState row={sender.data} askedSince={question?.createdAt ?? null} />}
            <span className="cut mid">
              {sender.data?.task == null ? getPersonName(partner) : `TAS-${sender.data.task.number} ${sender.data.task.title}`}
            </span>
            <ChevronRight size={14} aria-hidden="true" />
          </Link>
        )}
        {error !== null && <Problem error={error} title="The thread could not be marked as read" />}
        <div className={`scroll ${css.messages}`}>
          {thread.leftOut > 0 && <p className={`dim ${css.left}`}>{pluralize(thread.leftOut, 'earlier message')} not shown.</p>}
          {thread.letters.map((mail) => (
            <MailMessage key={mail.id} mail={mail} isOpenQuestion={mail === question} chosen={chosen} onChoose={readOnly ? null : setChosen} />
          ))}
        </div>
        {!readOnly && (
          <ReplyBox
            thread={thread}
            question={question}
            chosen={offers.find((offer) => offer.number === chosen) ?? null}
            task={sender.data?.task ?? null}
            onSent={() => setChosen(null)}
            onWrite={onWrite}
          />
        )}
      </section>
      <aside className={`scroll ${css.aside}`} aria-label="Sender">
        {partner !== null && <SenderPanel person={partner} row={sender} askedSince={question?.createdAt ?? null} waitsBehind={thread.waitsBehind} />}
      </aside>
    </div>
  );
}
