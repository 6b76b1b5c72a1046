// Queries and actions of the mail page. Reading, replying and sending use the same tools as agents.
import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { callTool, get } from '../../api/client';
import type { MailItem, MailItems, Thread } from '../../api/types';
import type { MailBoxName } from './boxes';

const PAGE_SIZE = 50;
/** Limit of open questions that are loaded at once. */
const MAX_QUESTIONS = 200;

export interface MailListState {
  readonly questions: readonly MailItem[];
  readonly mail: readonly MailItem[];
  readonly isReady: boolean;
  readonly error: unknown;
  readonly loadMore: (() => void) | null;
  readonly retry: () => void;
}

/** Loads a box. The operator's box also has all open questions, whatever page they are on. */
export function useMailList(box: MailBoxName, q: string): MailListState {
  const questions = useQuery({
    queryKey: ['mail', 'asks', q],
    queryFn: ({ signal }) => get<MailItems>('/api/mail', { box: 'asks', q, limit: MAX_QUESTIONS }, signal),
    enabled: box === 'me',
  });
  const items = useInfiniteQuery({
    queryKey: ['mail', 'list', box, q],
    queryFn: ({ pageParam, signal }) => get<MailItems>('/api/mail', { box, q, after: pageParam, limit: PAGE_SIZE }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  return {
    questions: box === 'me' ? (questions.data?.letters ?? []) : [],
    mail: items.data?.pages.flatMap((page) => page.letters) ?? [],
    isReady: items.data !== undefined && (box !== 'me' || questions.data !== undefined),
    error: items.error ?? questions.error,
    loadMore: items.hasNextPage && !items.isFetchingNextPage ? () => void items.fetchNextPage() : null,
    retry: () => {
      void items.refetch();
      void questions.refetch();
    },
  };
}

/** Counts the unread alerts. */
export function useUnreadAlertCount(): number {
  const { data } = useQuery({
    queryKey: ['mail', 'alerts'],
    queryFn: ({ signal }) => get<MailItems>('/api/mail', { box: 'alerts', limit: 100 }, signal),
  });
  return data?.letters.filter((mail) => mail.readAt === null).length ?? 0;
}

export function useThread(id: string): UseQueryResult<Thread> {
  return useQuery({
    queryKey: ['mail', 'thread', id],
    queryFn: ({ signal }) => get<Thread>(`/api/mail/threads/${encodeURIComponent(id)}`, {}, signal),
  });
}

interface MailActions {
  readonly markRead: (ids: readonly string[]) => Promise<void>;
  /** Returns a note about the new recipient if the original one has ended, otherwise null. */
  readonly reply: (to: string, body: string) => Promise<string | null>;
  readonly send: (to: string, subject: string, body: string) => Promise<string | null>;
  readonly comment: (taskNumber: number, body: string) => Promise<void>;
}

export function useMailActions(): MailActions {
  const client = useQueryClient();
  const refreshMail = () => client.invalidateQueries({ queryKey: ['mail'] });
  return {
    markRead: async (ids) => {
      for (const mailId of ids) await callTool('mcp__mail__read', { mailId });
      await refreshMail();
    },
    reply: async (originalMailId, body) => {
      const { note } = await callTool('mcp__mail__reply', { originalMailId, body });
      await refreshMail();
      return note ?? null;
    },
    send: async (toAgentId, subject, body) => {
      const { note } = await callTool('mcp__mail__send', { toAgentId, subject, body });
      await refreshMail();
      return note ?? null;
    },
    comment: async (taskNumber, body) => {
      await callTool('mcp__task__add_comment', { taskId: `TAS-${taskNumber}`, body });
    },
  };
}

/** Ids of the mail in a thread that the operator has not read. */
export function listUnread(thread: Thread): readonly string[] {
  return thread.letters.filter((mail) => mail.to.human && mail.readAt === null).map((mail) => mail.id);
}
