// Data of one task, reloaded by its events.
import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get } from '../../api/client';
import { taskNumberOf, useRefresh } from '../../api/live';
import type { HistoryEntry, TaskDetails, TaskHistory } from '../../api/types';

const EVERY = 500;

export function useTask(number: number): UseQueryResult<TaskDetails> {
  const query = useQuery({
    queryKey: ['task', number],
    queryFn: ({ signal }) => get<TaskDetails>(`/api/tasks/${number}`, {}, signal),
  });
  const task = query.data;
  const beside = new Set([number, ...(task?.waitsFor ?? []).map((one) => one.number)]);
  useRefresh(
    (event) => {
      const about = taskNumberOf(event);
      if (about !== null) return beside.has(about);
      if (task === undefined) return false;
      return event.taskId === task.id || (event.agentId !== null && event.agentId === task.agent?.id);
    },
    [['task', number]],
    EVERY,
  );
  return query;
}

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly more: (() => void) | null;
}

/** Loads the history of a task: the newest entries come with the task, older ones on demand. */
export function useHistory(task: TaskDetails): History {
  const older = useInfiniteQuery({
    queryKey: ['history', task.number, task.historyCursor],
    queryFn: ({ pageParam, signal }) => get<TaskHistory>(`/api/tasks/${task.number}/history`, { after: pageParam }, signal),
    initialPageParam: task.historyCursor ?? 0,
    getNextPageParam: (page) => page.nextCursor,
    enabled: false,
  });
  const pages = older.data?.pages ?? [];
  const asked = pages.length > 0;
  const more = asked ? older.hasNextPage : task.historyCursor !== null;
  return {
    entries: [...task.history, ...pages.flatMap((page) => page.history)],
    more: more ? () => void (asked ? older.fetchNextPage() : older.refetch()) : null,
  };
}
