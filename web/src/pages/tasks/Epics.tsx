import { useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../../api/client';
import { kinds, useRefresh } from '../../api/live';
import { money, plural } from '../../parts/format';
import { COLUMN_WORDS } from './moves';
import type { Epic, Epics } from '../../api/types';
import { COLUMNS } from './columns';
import css from './Epics.module.css';

const PAGE = 30;
const EVERY = 3000;

interface Props {
  readonly chosen: string;
  readonly onChoose: (epic: string) => void;
}

function Epic({ epic, chosen, onChoose }: { readonly epic: Epic; readonly chosen: boolean; readonly onChoose: () => void }) {
  const parts = COLUMNS.toReversed().filter((name) => epic.counts[name] > 0);
  const words = parts.map((name) => `${epic.counts[name]} ${COLUMN_WORDS[name].toLowerCase()}`).join(', ');
  return (
    <button type="button" className={css.epic} aria-pressed={chosen} onClick={onChoose} title={words}>
      <span className="row">
        <span className={`${css.title} cut`}>{epic.title}</span>
        <span className={css.number}>EP-{epic.number}</span>
        <span className="grow" />
        <span className="small mid">
          {epic.done} of {epic.tasks}
          {epic.costUsd !== null && `, ${money(epic.costUsd)}`}
        </span>
      </span>
      <span className={css.bar} aria-hidden="true">
        {parts.map((name) => (
          <i key={name} data-column={name} style={{ flexGrow: epic.counts[name] }} />
        ))}
      </span>
      <span className="sr-only">{words}</span>
    </button>
  );
}

/** Open epics with their progress. Selecting one filters the board. */
export function Epics({ chosen, onChoose }: Props) {
  const query = useInfiniteQuery({
    queryKey: ['epics'],
    queryFn: ({ pageParam, signal }) => get<Epics>('/api/epics', { after: pageParam, limit: PAGE }, signal),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextCursor,
  });
  useRefresh(kinds('epic.', 'task.', 'agent.finished'), [['epics']], EVERY);
  const epics = query.data?.pages.flatMap((page) => page.epics) ?? [];
  if (epics.length === 0) return null;
  return (
    <div className={css.epics} role="group" aria-label={`Epics, ${plural(epics.length, 'open one', 'open ones')}`}>
      {epics.map((epic) => (
        <Epic key={epic.id} epic={epic} chosen={epic.id === chosen} onChoose={() => onChoose(epic.id === chosen ? '' : epic.id)} />
      ))}
      {query.hasNextPage && (
        <button type="button" className={css.more} onClick={() => void query.fetchNextPage()}>
          More epics
        </button>
      )}
    </div>
  );
}
