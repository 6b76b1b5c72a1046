// Queries of the costs page. Usage is recorded without an event, so the page polls.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get } from '../../api/client';
import type { CostSeries, CostSummary, Lineage, ToolFigures } from '../../api/types';
import type { CostGrouping, TimeSpan } from './span';

const REFETCH_INTERVAL_MS = 20_000;

function buildTimeQuery({ since, until }: TimeSpan): { since: string; until: string | null } {
  return { since: since.toISOString(), until: until?.toISOString() ?? null };
}

function useCosts<T>(name: string, path: string, query: Readonly<Record<string, string | null>>): UseQueryResult<T> {
  return useQuery({
    queryKey: ['costs', name, query],
    queryFn: ({ signal }) => get<T>(path, query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_INTERVAL_MS,
  });
}

export const useSeries = (span: TimeSpan, by: CostGrouping): UseQueryResult<CostSeries> => useCosts('series', '/api/costs/series', { ...buildTimeQuery(span), by });
export const useSummary = (span: TimeSpan): UseQueryResult<CostSummary> => useCosts('summary', '/api/costs/summary', buildTimeQuery(span));
export const useLineage = (agent: string): UseQueryResult<Lineage> => useCosts('lineage', '/api/costs/lineage', { agent: agent === '' ? null : agent });
export const useToolFigures = (span: TimeSpan): UseQueryResult<ToolFigures> => useCosts('tools', '/api/usage/tools', buildTimeQuery(span));
