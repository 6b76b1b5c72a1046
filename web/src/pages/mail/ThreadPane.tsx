// One thread: its mail, the offered answers, a reply box, and the sender.
import { ArrowLeft, Check, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { toast } from '../../parts/toast';
import { plural } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import { LetterView } from './LetterView';
import { unreadOf, useActs, useThread } from './queries';
import { ReplyBox } from './ReplyBox';
import { Sender, SenderMark, useSender } from './Sender';
import type { Thread } from '../../api/types';
import { nameOf } from './threads';
import css from './ThreadPane.module.css';

interface Props {
  readonly id: string;
  readonly onBack: () => void;
  readonly onDone: (threadId: string) => void;
  readonly onWrite: (agentId: string) => void;
}

export function ThreadPane({ id, ...rest }: Props) {
  const { data, error, refetch } = useThread(id);
  if (data !== undefined) return <Shown thread={data} {...rest} />;
  return (
    <div className={css.pane}>
      <section className={css.thread}>
        {error === null ? <Skeleton rows={6} height={64} /> : <Problem error={error} title="This thread could not be read" onRetry={() => void refetch()} />}
      </section>
    </div>
  );
}

function Shown({ thread, onBack, onDone, onWrite }: { readonly thread: Thread } & Omit<Props, 'id'>) {
  const readOnly = useReadOnly();
  const acts = useActs();
  const sender = useSender(thread.with?.agentId ?? null);
  const [error, setError] = useState<unknown>(null);
  const [taken, take] = useState<number | null>(null);
  const unread = unreadOf(thread);
  const asked = thread.letters.find((letter) => letter.needsAnswer) ?? null;
  const offers = readOnly ? [] : (asked?.options ?? []);
  const markRead = async () => {
    setError(null);
    try {
      await acts.markRead(unread);
      toast('Marked as read');
      onDone(thread.threadId);
    } catch (problem) {
      setError(problem);
    }
  };
  useKeys({
    ...(readOnly || unread.length === 0 ? {} : { e: () => void markRead() }),
    ...Object.fromEntries(offers.map((offer) => [String(offer.number), () => take(offer.number)])),
  });
  const { with: other } = thread;
  return (
    <div className={css.pane}>
      <section className={css.thread} aria-label={thread.subject}>
        <header className={css.head}>
          <Button look="quiet" icon={<ArrowLeft size={16} />} aria-label="Back to the list" className={css.back ?? ''} onClick={onBack} />
          <h2>{thread.subject}</h2>
          {!readOnly && unread.length > 0 && (
            <Button icon={<Check size={14} aria-hidden="true" />} hint="e" title="Mark as read" className={css.read ?? ''} onClick={() => void markRead()}>
              <span>Mark as read</span>
            </Button>
          )}
        </header>
        {other?.agentId != null && (
          <Link href={`/agents/${other.agentId}`} className={css.strip}>
            {sender.data !== undefined && <SenderMark row={sender.data} asked={asked?.createdAt ?? null} />}
            <span className="cut mid">
              {sender.data?.task == null ? nameOf(other) : `TAS-${sender.data.task.number} ${sender.data.task.title}`}
            </span>
            <ChevronRight size={14} aria-hidden="true" />
          </Link>
        )}
        {error !== null && <Problem error={error} title="It could not be marked as read" />}
        <div className={`scroll ${css.letters}`}>
          {thread.leftOut > 0 && <p className={`dim ${css.left}`}>{plural(thread.leftOut, 'earlier letter')} not shown.</p>}
          {thread.letters.map((letter) => (
            <LetterView key={letter.id} letter={letter} open={letter === asked} taken={taken} onTake={readOnly ? null : take} />
          ))}
        </div>
        {!readOnly && (
          <ReplyBox
            thread={thread}
            asked={asked}
            taken={offers.find((offer) => offer.number === taken) ?? null}
            task={sender.data?.task ?? null}
            onSent={() => take(null)}
            onWrite={onWrite}
          />
        )}
      </section>
      <aside className={`scroll ${css.aside}`} aria-label="Who wrote">
        {other !== null && <Sender person={other} row={sender} asked={asked?.createdAt ?? null} waitsBehind={thread.waitsBehind} />}
      </aside>
    </div>
  );
}
