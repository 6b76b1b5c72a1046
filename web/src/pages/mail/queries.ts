// Queries and actions of the mail page. Reading, replying and sending use the same tools as agents.
import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { callTool, get } from '../../api/client';
import type { Letter, Letters, Thread } from '../../api/types';
import type { Box } from './boxes';

const PAGE = 50;
/** Limit of open questions that are loaded at once. */
const ASKS = 200;

export interface LetterList {
  readonly asks: readonly Letter[];
  readonly letters: readonly Letter[];
  readonly ready: boolean;
  readonly error: unknown;
  readonly more: (() => void) | null;
  readonly again: () => void;
}

/** Loads a box. The operator's box also has all open questions, whatever page they are on. */
export function useLetters(box: Box, q: string): LetterList {
  const asks = useQuery({
    queryKey: ['mail', 'asks', q],
    queryFn: ({ signal }) => get<Letters>('/api/mail', { box: 'asks', q, limit: ASKS }, signal),
    enabled: box === 'me',
  });
  const list = useInfiniteQuery({
    queryKey: ['mail', 'list', box, q],
    queryFn: ({ pageParam, signal }) => get<Letters>('/api/mail', { box, q, after: pageParam, limit: PAGE }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  return {
    asks: box === 'me' ? (asks.data?.letters ?? []) : [],
    letters: list.data?.pages.flatMap((page) => page.letters) ?? [],
    ready: list.data !== undefined && (box !== 'me' || asks.data !== undefined),
    error: list.error ?? asks.error,
    more: list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : null,
    again: () => {
      void list.refetch();
      void asks.refetch();
    },
  };
}

/** Counts the unread alerts. */
export function useAlerts(): number {
  const { data } = useQuery({
    queryKey: ['mail', 'alerts'],
    queryFn: ({ signal }) => get<Letters>('/api/mail', { box: 'alerts', limit: 100 }, signal),
  });
  return data?.letters.filter((letter) => letter.readAt === null).length ?? 0;
}

export function useThread(id: string): UseQueryResult<Thread> {
  return useQuery({
    queryKey: ['mail', 'thread', id],
    queryFn: ({ signal }) => get<Thread>(`/api/mail/threads/${encodeURIComponent(id)}`, {}, signal),
  });
}

interface Acts {
  readonly markRead: (ids: readonly string[]) => Promise<void>;
  /** Returns a note about the new recipient if the original one has ended, otherwise null. */
  readonly reply: (to: string, body: string) => Promise<string | null>;
  readonly send: (to: string, subject: string, body: string) => Promise<string | null>;
  readonly comment: (taskNumber: number, body: string) => Promise<void>;
}

export function useActs(): Acts {
  const client = useQueryClient();
  const told = () => client.invalidateQueries({ queryKey: ['mail'] });
  return {
    markRead: async (ids) => {
      for (const mailId of ids) await callTool('mcp__mail__read', { mailId });
      await told();
    },
    reply: async (originalMailId, body) => {
      const { note } = await callTool('mcp__mail__reply', { originalMailId, body });
      await told();
      return note ?? null;
    },
    send: async (toAgentId, subject, body) => {
      const { note } = await callTool('mcp__mail__send', { toAgentId, subject, body });
      await told();
      return note ?? null;
    },
    comment: async (taskNumber, body) => {
      await callTool('mcp__task__add_comment', { taskId: `TAS-${taskNumber}`, body });
    },
  };
}

/** Ids of the mail in a thread that the operator has not read. */
export function unreadOf(thread: Thread): readonly string[] {
  return thread.letters.filter((letter) => letter.to.human && letter.readAt === null).map((letter) => letter.id);
}
