// List of work to review, and the merge queue below it.
import { CircleCheck, CircleDashed, CirclePlay, Eye, GitMerge, MessageCircleQuestionMark, TriangleAlert, Undo2, type LucideIcon } from 'lucide-react';
import { Button } from '../../parts/Button';
import { Elapsed } from '../../parts/Elapsed';
import { useMerge } from './queries';
import type { ItemGroup, ReviewItem } from './items';
import { describeTargets, type QueueStage, type QueueEntry } from './mergeQueue';
import css from './ReviewList.module.css';

interface Props {
  readonly groups: readonly ItemGroup[];
  readonly queue: readonly QueueEntry[];
  readonly selected: string | null;
  readonly onLoadMore: (() => void) | null;
  readonly onOpen: (id: string) => void;
}

const ITEM_LOOKS: Readonly<Record<ReviewItem['kind'], { readonly icon: LucideIcon; readonly state: string; readonly label: string }>> = {
  approve: { icon: MessageCircleQuestionMark, state: 'waiting_input', label: 'Waits for approval' },
  limit: { icon: MessageCircleQuestionMark, state: 'waiting_input', label: 'At review limit' },
  review: { icon: Eye, state: 'waiting_review', label: 'In review' },
};

/** Icon and label of each stage; the colour is that of the agent state with the same meaning. */
export const STAGE_LOOKS: Readonly<Record<QueueStage, { readonly icon: LucideIcon; readonly state: string; readonly label: string }>> = {
  merged: { icon: CircleCheck, state: 'succeeded', label: 'Merged' },
  checking: { icon: CirclePlay, state: 'running', label: 'Trial merge' },
  next: { icon: CircleDashed, state: 'queued', label: 'Next' },
  queued: { icon: CircleDashed, state: 'queued', label: 'Queued' },
  held: { icon: TriangleAlert, state: 'failed', label: 'Held' },
  sentBack: { icon: Undo2, state: 'failed', label: 'Sent back' },
};

function ItemRow({ item, selected, onOpen }: { readonly item: ReviewItem; readonly selected: boolean; readonly onOpen: () => void }) {
  const hasSupervisor = item.kind === 'approve' && item.task.supervisorId !== null;
  const { icon: Icon, state, label } = hasSupervisor ? ITEM_LOOKS.review : ITEM_LOOKS[item.kind];
  return (
    <li>
      <button type="button" className={css.item} aria-current={selected} onClick={onOpen}>
        <span data-state={state} className={css.shape} title={label}>
          <Icon size={14} aria-hidden="true" />
          <span className="sr-only">{label}</span>
        </span>
        <span className={css.words}>
          <span className={item.kind === 'review' ? 'cut' : 'strong cut'}>{item.title}</span>
          <span className="small dim cut">
            {item.line}
            {item.kind === 'review' && (
              <>
                , <Elapsed from={item.review.createdAt} rough />
              </>
            )}
          </span>
        </span>
      </button>
    </li>
  );
}

/** Latest output of the running check. */
function CheckProgress({ id }: { readonly id: string }) {
  const { data } = useMerge(id);
  const checking = data?.checking;
  if (checking == null) return null;
  return (
    <span className={css.checking}>
      {checking.startedAt !== null && (
        <span className="small dim">
          checking for <Elapsed from={checking.startedAt} />
        </span>
      )}
      {checking.output.length > 0 && <code className="cut">{checking.output.at(-1)}</code>}
    </span>
  );
}

function QueueItem({ entry, selected, onOpen }: { readonly entry: QueueEntry; readonly selected: boolean; readonly onOpen: () => void }) {
  const { icon: Icon, state, label } = STAGE_LOOKS[entry.stage];
  const { merge } = entry;
  return (
    <li className={css.entry}>
      <button type="button" className={css.item} aria-current={selected} onClick={onOpen}>
        <span data-state={state} className={css.shape} title={label}>
          <Icon size={14} aria-hidden="true" />
          <span className="sr-only">{label}</span>
        </span>
        <span className={css.words}>
          <span className="cut">
            {merge.number} {merge.title}
          </span>
          <span className={`small dim ${css.line}`}>{entry.line}</span>
          {entry.stage === 'checking' && <CheckProgress id={merge.id} />}
        </span>
      </button>
    </li>
  );
}

export function ReviewList({ groups, queue, selected, onLoadMore, onOpen }: Props) {
  return (
    <>
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name}>
          <h2 className={css.group}>
            {group.name} <b>{group.items.length}</b>
          </h2>
          <ul>
            {group.items.map((item) => (
              <ItemRow key={`${item.kind} ${item.id}`} item={item} selected={item.id === selected} onOpen={() => onOpen(item.id)} />
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && <p className={`dim ${css.none}`}>Nothing to review.</p>}
      {onLoadMore !== null && (
        <div className={css.more}>
          <Button small onClick={onLoadMore}>
            Show more
          </Button>
        </div>
      )}
      <section aria-label="Merge queue" className={css.queue}>
        <h2 className={css.group}>
          <GitMerge size={12} aria-hidden="true" /> {queue.length === 0 ? 'Merge queue' : `Merge queue into ${describeTargets(queue)}`}
        </h2>
        {queue.length === 0 ? (
          <p className={`dim ${css.none}`}>Approved work is merged here one at a time, after the project's check passes.</p>
        ) : (
          <ul>
            {queue.map((station) => (
              <QueueItem key={station.merge.id} entry={station} selected={station.merge.id === selected} onOpen={() => onOpen(station.merge.id)} />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
