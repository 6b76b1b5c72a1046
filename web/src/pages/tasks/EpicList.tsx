import { useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../../api/client';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { formatMoney, pluralize } from '../../parts/format';
import { COLUMN_NAMES } from './moves';
import type { Epic as EpicButton, Epics } from '../../api/types';
import { COLUMNS } from './columns';
import css from './EpicList.module.css';

const PAGE_SIZE = 30;
const REFRESH_INTERVAL_MS = 3000;

interface Props {
  readonly chosen: string;
  readonly onChoose: (epic: string) => void;
}

function EpicButton({ epic, isChosen, onChoose }: { readonly epic: EpicButton; readonly isChosen: boolean; readonly onChoose: () => void }) {
  const parts = COLUMNS.toReversed().filter((name) => epic.counts[name] > 0);
  const summary = parts.map((name) => `${epic.counts[name]} ${COLUMN_NAMES[name].toLowerCase()}`).join(', ');
  return (
    <button type="button" className={css.epic} aria-pressed={isChosen} onClick={onChoose} title={summary}>
      <span className="row">
        <span className={`${css.title} cut`}>{epic.title}</span>
        <span className={css.number}>EP-{epic.number}</span>
        <span className="grow" />
        <span className="small mid">
          {epic.done} of {epic.tasks}
          {epic.costUsd !== null && `, ${formatMoney(epic.costUsd)}`}
        </span>
      </span>
      <span className={css.bar} aria-hidden="true">
        {parts.map((name) => (
          <i key={name} data-column={name} style={{ flexGrow: epic.counts[name] }} />
        ))}
      </span>
      <span className="sr-only">{summary}</span>
    </button>
  );
}

/** Open epics with their progress. Selecting one filters the board. */
export function EpicList({ chosen, onChoose }: Props) {
  const query = useInfiniteQuery({
    queryKey: ['epics'],
    queryFn: ({ pageParam, signal }) => get<Epics>('/api/epics', { after: pageParam, limit: PAGE_SIZE }, signal),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextCursor,
  });
  useRefreshOnEvents(matchKinds('epic.', 'task.', 'agent.finished'), [['epics']], REFRESH_INTERVAL_MS);
  const epics = query.data?.pages.flatMap((page) => page.epics) ?? [];
  if (epics.length === 0) return null;
  return (
    <div className={css.epics} role="group" aria-label={pluralize(epics.length, 'open epic')}>
      {epics.map((epic) => (
        <EpicButton key={epic.id} epic={epic} isChosen={epic.id === chosen} onChoose={() => onChoose(epic.id === chosen ? '' : epic.id)} />
      ))}
      {query.hasNextPage && (
        <button type="button" className={css.more} onClick={() => void query.fetchNextPage()}>
          More epics
        </button>
      )}
    </div>
  );
}
