// Data of the frame around every page: the state of the crew and the open requests to the operator.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get } from './client';
import type { Overview } from './types';

/** Start of the visitor's day. The server cannot know the visitor's time zone. */
function getStartOfToday(): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

export function useOverview(): UseQueryResult<Overview> {
  return useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => get<Overview>('/api/overview', { day: getStartOfToday() }, signal),
  });
}

/**
 * True for read-only visitors, and until the server has answered, so that no button that acts
 * flashes up.
 */
export function useReadOnly(): boolean {
  return useOverview().data?.readOnly ?? true;
}
