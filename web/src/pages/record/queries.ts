// Queries of the record page.
import { keepPreviousData, useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import { get } from '../../api/client';
import type { RecordParams } from './query';
import type { ChainVerification, Histogram, RecordRow, RecordedCall, Records } from '../../api/types';

const PAGE_SIZE = 100;
/** Number of rows below which the search continues by itself, up to a number of pages. */
const MIN_ROWS = 40;
const MAX_AUTO_PAGES = 8;
/** Interval for new calls, since not every call has an event. */
const NEW_CALLS_INTERVAL_MS = 5_000;
const CHAIN_INTERVAL_MS = 15_000;

export interface RecordListState {
  readonly rows: readonly RecordRow[];
  readonly isReady: boolean;
  readonly error: unknown;
  readonly isSearching: boolean;
  /** Oldest position searched, unless it is the beginning. */
  readonly searchedTo: { readonly number: number; readonly at: string } | null;
  /** Newest row when the list was read. */
  readonly newestRow: number | null;
  readonly loadMore: (() => void) | null;
  readonly retry: () => void;
}

/**
 * Loads calls, newest first. Each page searches a part of the record; if it has few matches, the
 * next one is requested at once.
 */
export function useRecords(params: RecordParams): RecordListState {
  const list = useInfiniteQuery({
    queryKey: ['record', 'list', params],
    queryFn: ({ pageParam, signal }) => get<Records>('/api/record', { ...params, before: pageParam, limit: PAGE_SIZE }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
    staleTime: Infinity,
  });
  const pages = list.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.rows);
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const continuesSearch = hasNextPage && !isFetching && rows.length < MIN_ROWS && pages.length < MAX_AUTO_PAGES;
  useEffect(() => {
    if (continuesSearch) void fetchNextPage();
  }, [continuesSearch, fetchNextPage]);
  return {
    rows,
    isReady: list.data !== undefined,
    error: list.error,
    isSearching: isFetching,
    searchedTo: hasNextPage ? (pages.at(-1)?.searchedTo ?? null) : null,
    newestRow: pages[0]?.last ?? null,
    loadMore: hasNextPage && !isFetching ? () => void fetchNextPage() : null,
    retry: () => void list.refetch(),
  };
}

/** Counts new matching calls; 100 stands for more. */
export function useNewCallCount(params: RecordParams, newestRow: number | null): number {
  const { data } = useQuery({
    queryKey: ['record', 'news', params, newestRow],
    queryFn: ({ signal }) => get<Records>('/api/record', { ...params, after: newestRow, limit: PAGE_SIZE }, signal),
    enabled: newestRow !== null && params.until === undefined,
    refetchInterval: NEW_CALLS_INTERVAL_MS,
    staleTime: 0,
  });
  return data?.rows.length ?? 0;
}

export function useHistogram(params: RecordParams, [since, until]: readonly [number, number], buckets: number): UseQueryResult<Histogram> {
  const histogramParams = { ...params, since: new Date(since).toISOString(), until: new Date(until).toISOString(), buckets };
  return useQuery({
    queryKey: ['record', 'histogram', histogramParams],
    queryFn: ({ signal }) => get<Histogram>('/api/record/histogram', histogramParams, signal),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}

export function useCall(number: string): UseQueryResult<RecordedCall> {
  return useQuery({
    queryKey: ['record', 'call', number],
    queryFn: ({ signal }) => get<RecordedCall>(`/api/record/${encodeURIComponent(number)}`, {}, signal),
  });
}

/**
 * Verifies the chain. The server resumes where it stopped; the page requests the remaining part at
 * once.
 */
export function useChain(): UseQueryResult<ChainVerification> {
  return useQuery({
    queryKey: ['record', 'chain'],
    queryFn: ({ signal }) => get<ChainVerification>('/api/audit/verify', { full: false }, signal),
    refetchInterval: ({ state: { data } }) => (data !== undefined && data.ok && data.rows < data.of ? 50 : CHAIN_INTERVAL_MS),
  });
}
