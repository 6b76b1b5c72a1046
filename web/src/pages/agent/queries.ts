// Queries of the agent page.
import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { get } from '../../api/client';
import { useRefresh } from '../../api/live';
import type { Letters } from '../../api/types';
import type { Records } from '../../api/types';
import { Reader, type Reading } from './reader';
import type { AgentDetails, AgentDiff, AgentStory, AgentStream } from '../../api/types';

const path = (id: string, part = ''): string => `/api/agents/${encodeURIComponent(id)}${part}`;

/** Loads an agent by its id or an unambiguous part of it. */
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

/** Loads the changes of an agent. Each request runs git, so the interval is long. */
export function useDiff(id: string, over: boolean): UseQueryResult<AgentDiff> {
  return useQuery({
    queryKey: ['agents', id, 'diff'],
    queryFn: ({ signal }) => get<AgentDiff>(path(id, '/diff'), {}, signal),
    refetchInterval: over ? false : 8000,
    // An unchanged patch must stay the same object, or all its lines would be parsed again.
    structuralSharing: true,
  });
}

/** Reloads the data when an event concerns the agent or one of its children. */
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

/** Finds the recorded call for a call in the stream: the same tool at the same time. */
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

/** Follows the agent's stream while the page is mounted. Enlisted agents have no stream. */
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
