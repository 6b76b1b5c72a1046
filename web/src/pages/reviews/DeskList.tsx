// List of work to review, and the merge queue below it.
import { CircleCheck, CircleDashed, CirclePlay, Eye, GitMerge, MessageCircleQuestionMark, TriangleAlert, Undo2, type LucideIcon } from 'lucide-react';
import { Button } from '../../parts/Button';
import { Elapsed } from '../../parts/Elapsed';
import { useMerge } from './queries';
import type { Group, Item } from './items';
import { targetsOf, type Look, type Station } from './train';
import css from './DeskList.module.css';

interface Props {
  readonly groups: readonly Group[];
  readonly stations: readonly Station[];
  readonly selected: string | null;
  readonly more: (() => void) | null;
  readonly onOpen: (id: string) => void;
}

const ITEM: Readonly<Record<Item['kind'], { readonly icon: LucideIcon; readonly state: string; readonly word: string }>> = {
  approve: { icon: MessageCircleQuestionMark, state: 'waiting_input', word: 'Waits for approval' },
  limit: { icon: MessageCircleQuestionMark, state: 'waiting_input', word: 'At review limit' },
  review: { icon: Eye, state: 'waiting_review', word: 'In review' },
};

/** Icon and label of each stage; the colour is that of the agent state with the same meaning. */
export const STATION: Readonly<Record<Look, { readonly icon: LucideIcon; readonly state: string; readonly word: string }>> = {
  merged: { icon: CircleCheck, state: 'succeeded', word: 'Merged' },
  checking: { icon: CirclePlay, state: 'running', word: 'Trial merge' },
  next: { icon: CircleDashed, state: 'queued', word: 'Next' },
  queued: { icon: CircleDashed, state: 'queued', word: 'Queued' },
  held: { icon: TriangleAlert, state: 'failed', word: 'Held' },
  sentBack: { icon: Undo2, state: 'failed', word: 'Sent back' },
};

function ItemRow({ item, selected, onOpen }: { readonly item: Item; readonly selected: boolean; readonly onOpen: () => void }) {
  const led = item.kind === 'approve' && item.task.supervisorId !== null;
  const { icon: Icon, state, word } = led ? ITEM.review : ITEM[item.kind];
  return (
    <li>
      <button type="button" className={css.item} aria-current={selected} onClick={onOpen}>
        <span data-state={state} className={css.shape} title={word}>
          <Icon size={14} aria-hidden="true" />
          <span className="sr-only">{word}</span>
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
function Checking({ id }: { readonly id: string }) {
  const { data } = useMerge(id);
  const checking = data?.checking;
  if (checking == null) return null;
  return (
    <span className={css.checking}>
      {checking.startedAt !== null && (
        <span className="small dim">
          checks for <Elapsed from={checking.startedAt} />
        </span>
      )}
      {checking.output.length > 0 && <code className="cut">{checking.output.at(-1)}</code>}
    </span>
  );
}

function Stop({ station, selected, onOpen }: { readonly station: Station; readonly selected: boolean; readonly onOpen: () => void }) {
  const { icon: Icon, state, word } = STATION[station.look];
  const { merge } = station;
  return (
    <li className={css.station}>
      <button type="button" className={css.item} aria-current={selected} onClick={onOpen}>
        <span data-state={state} className={css.shape} title={word}>
          <Icon size={14} aria-hidden="true" />
          <span className="sr-only">{word}</span>
        </span>
        <span className={css.words}>
          <span className="cut">
            {merge.number} {merge.title}
          </span>
          <span className={`small dim ${css.line}`}>{station.line}</span>
          {station.look === 'checking' && <Checking id={merge.id} />}
        </span>
      </button>
    </li>
  );
}

export function DeskList({ groups, stations, selected, more, onOpen }: Props) {
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
      {more !== null && (
        <div className={css.more}>
          <Button small onClick={more}>
            Show more
          </Button>
        </div>
      )}
      <section aria-label="Merge queue" className={css.train}>
        <h2 className={css.group}>
          <GitMerge size={12} aria-hidden="true" /> {stations.length === 0 ? 'Merge queue' : `Merge queue into ${targetsOf(stations)}`}
        </h2>
        {stations.length === 0 ? (
          <p className={`dim ${css.none}`}>Approved work is merged here one at a time, after the project's check passes.</p>
        ) : (
          <ul>
            {stations.map((station) => (
              <Stop key={station.merge.id} station={station} selected={station.merge.id === selected} onOpen={() => onOpen(station.merge.id)} />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
