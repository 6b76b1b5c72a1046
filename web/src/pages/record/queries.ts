// Queries of the record page.
import { keepPreviousData, useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import { get } from '../../api/client';
import type { Params } from './query';
import type { ChainVerification, Histogram, RecordRow, RecordedCall, Records } from '../../api/types';

const PAGE = 100;
/** Number of rows below which the search continues by itself, up to a number of pages. */
const ENOUGH = 40;
const ANSWERS = 8;
/** Interval for new calls, since not every call has an event. */
const NEWS_MS = 5_000;
const CHAIN_MS = 15_000;

export interface RecordList {
  readonly rows: readonly RecordRow[];
  readonly ready: boolean;
  readonly error: unknown;
  readonly searching: boolean;
  /** Oldest position searched, unless it is the beginning. */
  readonly searchedTo: { readonly number: number; readonly at: string } | null;
  /** Newest row when the list was read. */
  readonly last: number | null;
  readonly more: (() => void) | null;
  readonly again: () => void;
}

/**
 * Loads calls, newest first. Each page searches a part of the record; if it has few matches, the
 * next one is requested at once.
 */
export function useRecords(params: Params): RecordList {
  const list = useInfiniteQuery({
    queryKey: ['record', 'list', params],
    queryFn: ({ pageParam, signal }) => get<Records>('/api/record', { ...params, before: pageParam, limit: PAGE }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
    staleTime: Infinity,
  });
  const pages = list.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.rows);
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const goOn = hasNextPage && !isFetching && rows.length < ENOUGH && pages.length < ANSWERS;
  useEffect(() => {
    if (goOn) void fetchNextPage();
  }, [goOn, fetchNextPage]);
  return {
    rows,
    ready: list.data !== undefined,
    error: list.error,
    searching: isFetching,
    searchedTo: hasNextPage ? (pages.at(-1)?.searchedTo ?? null) : null,
    last: pages[0]?.last ?? null,
    more: hasNextPage && !isFetching ? () => void fetchNextPage() : null,
    again: () => void list.refetch(),
  };
}

/** Counts new matching calls; 100 stands for more. */
export function useNews(params: Params, last: number | null): number {
  const { data } = useQuery({
    queryKey: ['record', 'news', params, last],
    queryFn: ({ signal }) => get<Records>('/api/record', { ...params, after: last, limit: PAGE }, signal),
    enabled: last !== null && params.until === undefined,
    refetchInterval: NEWS_MS,
    staleTime: 0,
  });
  return data?.rows.length ?? 0;
}

export function useHistogram(params: Params, [since, until]: readonly [number, number], buckets: number): UseQueryResult<Histogram> {
  const asked = { ...params, since: new Date(since).toISOString(), until: new Date(until).toISOString(), buckets };
  return useQuery({
    queryKey: ['record', 'histogram', asked],
    queryFn: ({ signal }) => get<Histogram>('/api/record/histogram', asked, signal),
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
    refetchInterval: ({ state: { data } }) => (data !== undefined && data.ok && data.rows < data.of ? 50 : CHAIN_MS),
  });
}
