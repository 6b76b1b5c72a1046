// Data of one task, reloaded by its events.
import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get } from '../../api/client';
import { getTaskNumber, useRefreshOnEvents } from '../../api/live';
import type { HistoryEntry, TaskDetails, TaskHistory } from '../../api/types';

const REFRESH_INTERVAL_MS = 500;

export function useTask(number: number): UseQueryResult<TaskDetails> {
  const query = useQuery({
    queryKey: ['task', number],
    queryFn: ({ signal }) => get<TaskDetails>(`/api/tasks/${number}`, {}, signal),
  });
  const task = query.data;
  const relatedNumbers = new Set([number, ...(task?.waitsFor ?? []).map((one) => one.number)]);
  useRefreshOnEvents(
    (event) => {
      const eventTask = getTaskNumber(event);
      if (eventTask !== null) return relatedNumbers.has(eventTask);
      if (task === undefined) return false;
      return event.taskId === task.id || (event.agentId !== null && event.agentId === task.agent?.id);
    },
    [['task', number]],
    REFRESH_INTERVAL_MS,
  );
  return query;
}

export interface TaskHistoryState {
  readonly entries: readonly HistoryEntry[];
  readonly loadOlder: (() => void) | null;
}

/** Loads the history of a task: the newest entries come with the task, older ones on demand. */
export function useHistory(task: TaskDetails): TaskHistoryState {
  const older = useInfiniteQuery({
    queryKey: ['history', task.number, task.historyCursor],
    queryFn: ({ pageParam, signal }) => get<TaskHistory>(`/api/tasks/${task.number}/history`, { after: pageParam }, signal),
    initialPageParam: task.historyCursor ?? 0,
    getNextPageParam: (page) => page.nextCursor,
    enabled: false,
  });
  const pages = older.data?.pages ?? [];
  const hasOlder = pages.length > 0;
  const more = hasOlder ? older.hasNextPage : task.historyCursor !== null;
  return {
    entries: [...task.history, ...pages.flatMap((page) => page.history)],
    loadOlder: more ? () => void (hasOlder ? older.fetchNextPage() : older.refetch()) : null,
  };
}
