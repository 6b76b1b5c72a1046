// Queries of the agent page.
import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { get } from '../../api/client';
import { useRefreshOnEvents } from '../../api/live';
import type { MailItems } from '../../api/types';
import type { Records } from '../../api/types';
import { StreamReader, type StreamState } from './streamReader';
import type { AgentDetails, AgentDiff, AgentStory, AgentStream } from '../../api/types';

const agentPath = (id: string, suffix = ''): string => `/api/agents/${encodeURIComponent(id)}${suffix}`;

/** Loads an agent by its id or an unambiguous part of it. */
export function useAgent(name: string): UseQueryResult<AgentDetails> {
  return useQuery({
    queryKey: ['agents', name, 'details'],
    queryFn: ({ signal }) => get<AgentDetails>(agentPath(name), {}, signal),
    refetchInterval: (query) => (query.state.data?.finishedAt === null ? 5000 : false),
  });
}

export function useStory(id: string, isEnded: boolean): UseQueryResult<AgentStory> {
  return useQuery({
    queryKey: ['agents', id, 'story'],
    queryFn: ({ signal }) => get<AgentStory>(agentPath(id, '/story'), {}, signal),
    refetchInterval: isEnded ? false : 10_000,
  });
}

/** Loads the changes of an agent. Each request runs git, so the interval is long. */
export function useDiff(id: string, isEnded: boolean): UseQueryResult<AgentDiff> {
  return useQuery({
    queryKey: ['agents', id, 'diff'],
    queryFn: ({ signal }) => get<AgentDiff>(agentPath(id, '/diff'), {}, signal),
    refetchInterval: isEnded ? false : 8000,
    // An unchanged patch must stay the same object, or all its lines would be parsed again.
    structuralSharing: true,
  });
}

/** Reloads the data when an event concerns the agent or one of its children. */
export function useAgentEvents(id: string): void {
  useRefreshOnEvents(
    (event) =>
      event.agentId === id ||
      (event.kind === 'agent.created' && event.data.parentId === id) ||
      (event.kind === 'mail.sent' && event.data.toAgentId === id),
    [['agents', id], ['agent-mail', id]],
  );
}

export function useRecordedCalls(id: string) {
  return useInfiniteQuery({
    queryKey: ['agents', id, 'calls'],
    queryFn: ({ pageParam, signal }) => get<Records>('/api/record', { agent: id, before: pageParam, limit: 100 }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
  });
}

/** Finds the recorded call for a call in the stream: the same tool at the same time. */
export function useRecordOfCall(id: string, tool: string | null, from: string, to: string | null) {
  const isAdjutantTool = tool?.startsWith('mcp__') === true && to !== null;
  return useQuery({
    queryKey: ['record', 'of', id, tool, from],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.parse(from) - 1000).toISOString();
      const until = new Date(Date.parse(to ?? from) + 2000).toISOString();
      const { rows } = await get<Records>('/api/record', { agent: id, tool, since, until, order: 'asc', limit: 1 }, signal);
      return rows[0] ?? null;
    },
    enabled: isAdjutantTool,
    staleTime: Infinity,
  });
}

export function useAgentMail(id: string) {
  return useInfiniteQuery({
    queryKey: ['agent-mail', id],
    queryFn: ({ pageParam, signal }) => get<MailItems>('/api/mail', { agent: id, after: pageParam, limit: 50 }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** Follows the agent's stream while the page is mounted. Enlisted agents have no stream. */
export function useStream(id: string, attempt: number, kind: string): { readonly reader: StreamReader; readonly state: StreamState } {
  const reader = useMemo(() => new StreamReader((query, signal) => get<AgentStream>(agentPath(id, '/stream'), { ...query }, signal), 1), [id]);
  const state = useSyncExternalStore(reader.subscribe, reader.getState);
  const hasStream = kind !== 'enlisted';
  useEffect(() => {
    if (hasStream) reader.resume();
    return () => reader.stop();
  }, [reader, hasStream]);
  useEffect(() => {
    if (hasStream) void reader.follow(attempt);
  }, [reader, attempt, hasStream]);
  return { reader, state };
}
