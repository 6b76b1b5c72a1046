// Queries of the costs page. Usage is recorded without an event, so the page polls.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get } from '../../api/client';
import type { CostSeries, CostSummary, Lineage, ToolFigures } from '../../api/types';
import type { Cut, Span } from './span';

const EVERY = 20_000;

function times({ since, until }: Span): { since: string; until: string | null } {
  return { since: since.toISOString(), until: until?.toISOString() ?? null };
}

function useCosts<T>(name: string, path: string, query: Readonly<Record<string, string | null>>): UseQueryResult<T> {
  return useQuery({
    queryKey: ['costs', name, query],
    queryFn: ({ signal }) => get<T>(path, query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY,
  });
}

export const useSeries = (span: Span, by: Cut): UseQueryResult<CostSeries> => useCosts('series', '/api/costs/series', { ...times(span), by });
export const useSummary = (span: Span): UseQueryResult<CostSummary> => useCosts('summary', '/api/costs/summary', times(span));
export const useLineage = (agent: string): UseQueryResult<Lineage> => useCosts('lineage', '/api/costs/lineage', { agent: agent === '' ? null : agent });
export const useToolsUsed = (span: Span): UseQueryResult<ToolFigures> => useCosts('tools', '/api/usage/tools', times(span));
