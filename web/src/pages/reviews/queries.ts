// Queries and actions of the reviews page, over the same tools and routes as the command line.
import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { callTool, get, post } from '../../api/client';
import { toast } from '../../parts/toast';
import type { AgentDiff, AllowedReviews, Coder, Merges, Review, ReviewQueue, ReviewQueueTask, ReviewStory, Reviews, WatchedMerge } from '../../api/types';
import { isMoving, shortCommit } from './train';

/** Page size; the server runs git for each task. */
const PAGE = 20;
const OVER = 12;
const SOON = 2000;
/** Time to wait for an approval. A refusal arrives at once; a longer call is a running merge. */
const UNDER_WAY = 1200;

export interface Desk {
  readonly tasks: readonly ReviewQueueTask[];
  readonly limited: readonly Coder[];
  readonly reviews: readonly Review[];
  readonly merges: Merges | undefined;
  readonly ready: boolean;
  readonly error: unknown;
  readonly more: (() => void) | null;
  readonly again: () => void;
}

export function useDesk(): Desk {
  const queue = useInfiniteQuery({
    queryKey: ['reviews', 'queue'],
    queryFn: ({ pageParam, signal }) => get<ReviewQueue>('/api/tasks/review-queue', { cursor: pageParam, limit: PAGE }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
  });
  const open = useQuery({ queryKey: ['reviews', 'open'], queryFn: ({ signal }) => get<Reviews>('/api/reviews', { limit: 200 }, signal) });
  const train = useQuery({
    queryKey: ['reviews', 'train'],
    queryFn: ({ signal }) => get<Merges>('/api/merge-queue', { limit: 200, over: OVER }, signal),
    // The start of a merge has no event.
    refetchInterval: (query) => (isMoving(query.state.data) ? SOON : false),
  });
  return {
    tasks: queue.data?.pages.flatMap((page) => page.tasks) ?? [],
    limited: open.data?.limited ?? [],
    reviews: open.data?.reviews ?? [],
    merges: train.data,
    ready: queue.data !== undefined && open.data !== undefined && train.data !== undefined,
    error: queue.error ?? open.error ?? train.error,
    more: queue.hasNextPage && !queue.isFetchingNextPage ? () => void queue.fetchNextPage() : null,
    again: () => {
      void queue.refetch();
      void open.refetch();
      void train.refetch();
    },
  };
}

/** Loads a merge, with the output of its check while it runs. */
export function useMerge(id: string | null): UseQueryResult<WatchedMerge> {
  return useQuery({
    queryKey: ['reviews', 'merge', id],
    queryFn: ({ signal }) => get<WatchedMerge>(`/api/merge-queue/${encodeURIComponent(id ?? '')}`, {}, signal),
    enabled: id !== null,
    refetchInterval: (query) => (query.state.data?.endedAt === null && query.state.data.state !== 'held' ? SOON : false),
  });
}

export function useStory(whose: string | null): UseQueryResult<ReviewStory> {
  return useQuery({
    queryKey: ['reviews', 'story', whose],
    queryFn: ({ signal }) => get<ReviewStory>(`/api/reviews/${encodeURIComponent(whose ?? '')}`, {}, signal),
    enabled: whose !== null,
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

interface Acts {
  readonly approve: (task: ReviewQueueTask) => Promise<void>;
  readonly sendBack: (task: ReviewQueueTask, feedback: string) => Promise<void>;
  readonly allowMore: (coder: string) => Promise<void>;
  readonly abandon: (coder: string, reason: string) => Promise<void>;
  readonly openPull: (coder: string, title: string, description: string) => Promise<void>;
  readonly retry: (merge: string) => Promise<void>;
}

export function useActs(): Acts {
  const client = useQueryClient();
  const told = () => client.invalidateQueries({ queryKey: ['reviews'] });
  return {
    approve: async (task) => {
      const call = callTool('mcp__supervisor__approve_task', { taskId: task.id });
      const wait = new Promise<null>((go) => setTimeout(() => go(null), UNDER_WAY));
      const late = call.then(async (answer) => {
        const word = {
          merged: `merged as ${shortCommit(answer.commit ?? '')}`,
          sent_back: `was sent back: ${answer.reason ?? ''}`,
          held: `is held: ${answer.reason ?? ''}`,
          queued: 'is in the queue',
          completed: 'is done; it had no branch to merge',
        }[answer.status];
        toast(`${task.number} ${word}`);
        await told();
      });
      const first = await Promise.race([late, wait]);
      // The merge continues in the background; its failure appears in the merge queue.
      if (first === null) late.catch(() => void told());
      void told();
    },
    sendBack: async (task, feedback) => {
      const answer = await callTool('mcp__supervisor__request_changes', { taskId: task.id, feedback });
      toast(answer.agentId === null ? `${task.number} was sent back; no agent works on it now` : `${task.number} was sent back; its agent continues`);
      await told();
    },
    allowMore: async (coder) => {
      const { left } = await post<AllowedReviews>(`/api/reviews/${coder}/allow-more`, { more: 1 });
      toast(`It may ask for ${left} more`);
      await told();
    },
    abandon: async (coder, reason) => {
      await post(`/api/reviews/${coder}/abandon`, reason === '' ? {} : { reason });
      toast('Abandoned; its commits stay on its branch');
      await told();
    },
    openPull: async (coder, title, description) => {
      const { pr_number: number } = await callTool('mcp__review__create_pull_request', { title, description }, coder);
      toast(number == null ? 'The pull request is being opened' : `Pull request ${number} is open`);
      await told();
    },
    retry: async (merge) => {
      await post(`/api/merge-queue/${merge}/retry`);
      toast('Back in the queue');
      await told();
    },
  };
}
