// What the page asks the server about one agent.
import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { get } from '../../api/client';
import { useRefresh } from '../../api/live';
import type { Letters } from '../../api/types';
import type { Records } from '../../api/types';
import { Reader, type Reading } from './reader';
import type { AgentDetails, AgentDiff, AgentStory, AgentStream } from '../../api/types';

const path = (id: string, part = ''): string => `/api/agents/${encodeURIComponent(id)}${part}`;

/** The agent itself; the name may be a part of its id. */
export function useAgent(name: string): UseQueryResult<AgentDetails> {
  return useQuery({
    queryKey: ['agents', name, 'whole'],
    queryFn: ({ signal }) => get<AgentDetails>(path(name), {}, signal),
    refetchInterval: (query) => (query.state.data?.finishedAt === null ? 5000 : false),
  });
}

export function useStory(id: string, over: boolean): UseQueryResult<AgentStory> {
  return useQuery({
    queryKey: ['agents', id, 'story'],
    queryFn: ({ signal }) => get<AgentStory>(path(id, '/story'), {}, signal),
    refetchInterval: over ? false : 10_000,
  });
}

/** What it changed. Git is asked for it, so not more often than somebody could read it. */
export function useDiff(id: string, over: boolean): UseQueryResult<AgentDiff> {
  return useQuery({
    queryKey: ['agents', id, 'diff'],
    queryFn: ({ signal }) => get<AgentDiff>(path(id, '/diff'), {}, signal),
    refetchInterval: over ? false : 8000,
    // The same patch must be the same object, or every line would be read again.
    structuralSharing: true,
  });
}

/** Reads what is shown again when something happened to the agent, or to one below it. */
export function useAgentEvents(id: string): void {
  useRefresh(
    (event) =>
      event.agentId === id ||
      (event.kind === 'agent.created' && event.data.parentId === id) ||
      (event.kind === 'mail.sent' && event.data.toAgentId === id),
    [['agents', id], ['agent-mail', id]],
  );
}

export function useCalls(id: string) {
  return useInfiniteQuery({
    queryKey: ['agents', id, 'calls'],
    queryFn: ({ pageParam, signal }) => get<Records>('/api/record', { agent: id, before: pageParam, limit: 100 }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
  });
}

/** The record's number of a call of ours that the stream shows: the same tool, in the same moment. */
export function useRecordOf(id: string, tool: string | null, from: string, to: string | null) {
  const ours = tool?.startsWith('mcp__') === true && to !== null;
  return useQuery({
    queryKey: ['record', 'of', id, tool, from],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.parse(from) - 1000).toISOString();
      const until = new Date(Date.parse(to ?? from) + 2000).toISOString();
      const { rows } = await get<Records>('/api/record', { agent: id, tool, since, until, order: 'asc', limit: 1 }, signal);
      return rows[0] ?? null;
    },
    enabled: ours,
    staleTime: Infinity,
  });
}

export function useAgentMail(id: string) {
  return useInfiniteQuery({
    queryKey: ['agent-mail', id],
    queryFn: ({ pageParam, signal }) => get<Letters>('/api/mail', { agent: id, after: pageParam, limit: 50 }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** Its stream, as long as the page is there. One that somebody else runs has none. */
export function useStream(id: string, attempt: number, kind: string): { readonly reader: Reader; readonly reading: Reading } {
  const reader = useMemo(() => new Reader((wish, signal) => get<AgentStream>(path(id, '/stream'), { ...wish }, signal), 1), [id]);
  const reading = useSyncExternalStore(reader.watch, reader.reading);
  const ours = kind !== 'enlisted';
  useEffect(() => {
    if (ours) reader.start();
    return () => reader.stop();
  }, [reader, ours]);
  useEffect(() => {
    if (ours) void reader.follow(attempt);
  }, [reader, attempt, ours]);
  return { reader, reading };
}
