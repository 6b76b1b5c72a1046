// Queries and actions of the reviews page, over the same tools and routes as the command line.
import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { callTool, get, post } from '../../api/client';
import { pluralize } from '../../parts/format';
import { showToast } from '../../parts/toast';
import type { AgentDiff, AllowedReviews, CoderView, Merges, ReviewView, ReviewQueue, ReviewQueueTask, ReviewStory, Reviews, WatchedMerge } from '../../api/types';
import { isQueueMoving, shortenCommit } from './mergeQueue';

/** Page size; the server runs git for each task. */
const PAGE_SIZE = 20;
const FINISHED_MERGES_LIMIT = 12;
const MERGE_POLL_INTERVAL_MS = 2000;
/** Time to wait for an approval. A refusal arrives at once; a longer call is a running merge. */
const APPROVAL_WAIT_MS = 1200;

export interface ReviewLists {
  readonly tasks: readonly ReviewQueueTask[];
  readonly limited: readonly CoderView[];
  readonly reviews: readonly ReviewView[];
  readonly merges: Merges | undefined;
  readonly isReady: boolean;
  readonly error: unknown;
  readonly loadMore: (() => void) | null;
  readonly retry: () => void;
}

export function useReviewLists(): ReviewLists {
  const tasks = useInfiniteQuery({
    queryKey: ['reviews', 'tasks'],
    queryFn: ({ pageParam, signal }) => get<ReviewQueue>('/api/tasks/review-queue', { cursor: pageParam, limit: PAGE_SIZE }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
  });
  const open = useQuery({ queryKey: ['reviews', 'open'], queryFn: ({ signal }) => get<Reviews>('/api/reviews', { limit: 200 }, signal) });
  const queue = useQuery({
    queryKey: ['reviews', 'merges'],
    queryFn: ({ signal }) => get<Merges>('/api/merge-queue', { limit: 200, over: FINISHED_MERGES_LIMIT }, signal),
    // The start of a merge has no event.
    refetchInterval: (query) => (isQueueMoving(query.state.data) ? MERGE_POLL_INTERVAL_MS : false),
  });
  return {
    tasks: tasks.data?.pages.flatMap((page) => page.tasks) ?? [],
    limited: open.data?.limited ?? [],
    reviews: open.data?.reviews ?? [],
    merges: queue.data,
    isReady: tasks.data !== undefined && open.data !== undefined && queue.data !== undefined,
    error: tasks.error ?? open.error ?? queue.error,
    loadMore: tasks.hasNextPage && !tasks.isFetchingNextPage ? () => void tasks.fetchNextPage() : null,
    retry: () => {
      void tasks.refetch();
      void open.refetch();
      void queue.refetch();
    },
  };
}

/** Loads a merge, with the output of its check while it runs. */
export function useMerge(id: string | null): UseQueryResult<WatchedMerge> {
  return useQuery({
    queryKey: ['reviews', 'merge', id],
    queryFn: ({ signal }) => get<WatchedMerge>(`/api/merge-queue/${encodeURIComponent(id ?? '')}`, {}, signal),
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data?.endedAt === null && query.state.data.state !== 'held' ? MERGE_POLL_INTERVAL_MS : false),
  });
}

export function useStory(coder: string | null): UseQueryResult<ReviewStory> {
  return useQuery({
    queryKey: ['reviews', 'story', coder],
    queryFn: ({ signal }) => get<ReviewStory>(`/api/reviews/${encodeURIComponent(coder ?? '')}`, {}, signal),
    enabled: coder !== null,
    retry: false,
  });
}

export function useDiff(agent: string | null, commit: string | null): UseQueryResult<AgentDiff> {
  return useQuery({
    queryKey: ['reviews', 'diff', agent, commit],
    queryFn: ({ signal }) => get<AgentDiff>(`/api/agents/${encodeURIComponent(agent ?? '')}/diff`, {}, signal),
    enabled: agent !== null,
    retry: false,
  });
}

interface ReviewActions {
  readonly approve: (task: ReviewQueueTask) => Promise<void>;
  readonly sendBack: (task: ReviewQueueTask, feedback: string) => Promise<void>;
  readonly allowMore: (coder: string) => Promise<void>;
  readonly abandon: (coder: string, reason: string) => Promise<void>;
  readonly openPull: (coder: string, title: string, description: string) => Promise<void>;
  readonly retry: (merge: string) => Promise<void>;
  readonly acceptServerVariables: (task: string) => Promise<void>;
}

export function useReviewActions(): ReviewActions {
  const client = useQueryClient();
  const refreshReviews = () => client.invalidateQueries({ queryKey: ['reviews'] });
  return {
    approve: async (task) => {
      const call = callTool('mcp__supervisor__approve_task', { taskId: task.id });
      const timeout = new Promise<null>((resolve) => setTimeout(() => resolve(null), APPROVAL_WAIT_MS));
      const outcome = call.then(async (answer) => {
        const text = {
          merged: `merged as ${shortenCommit(answer.commit ?? '')}`,
          sent_back: `was sent back: ${answer.reason ?? ''}`,
          held: `is held: ${answer.reason ?? ''}`,
          queued: 'is queued',
          completed: 'is completed; it had no branch to merge',
        }[answer.status];
        showToast(`${task.number} ${text}`);
        await refreshReviews();
      });
      const first = await Promise.race([outcome, timeout]);
      // The merge continues in the background; its failure appears in the merge queue.
      if (first === null) outcome.catch(() => void refreshReviews());
      void refreshReviews();
    },
    sendBack: async (task, feedback) => {
      const answer = await callTool('mcp__supervisor__request_changes', { taskId: task.id, feedback });
      showToast(answer.agentId === null ? `${task.number} was sent back; no agent works on it now` : `${task.number} was sent back; its agent continues`);
      await refreshReviews();
    },
    allowMore: async (coder) => {
      const { left } = await post<AllowedReviews>(`/api/reviews/${coder}/allow-more`, { more: 1 });
      showToast(`${pluralize(left, 'more review')} allowed`);
      await refreshReviews();
    },
    abandon: async (coder, reason) => {
      await post(`/api/reviews/${coder}/abandon`, reason === '' ? {} : { reason });
      showToast('Abandoned; its commits stay on its branch');
      await refreshReviews();
    },
    openPull: async (coder, title, description) => {
      const { pr_number: number } = await callTool('mcp__review__create_pull_request', { title, description }, coder);
      showToast(number == null ? 'The pull request is being opened' : `Pull request ${number} is open`);
      await refreshReviews();
    },
    // Values that a shell handed on and that are gone since a restart; the page has no shell.
    acceptServerVariables: async (task) => {
      await post(`/api/tasks/${task}/environment`, { environment: {}, acceptServers: true });
    },
    retry: async (merge) => {
      await post(`/api/merge-queue/${merge}/retry`);
      showToast('Returned to the queue');
      await refreshReviews();
    },
  };
}
