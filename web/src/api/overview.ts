// What the frame around every page shows: how the crew does at a glance, and what needs the person.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get } from './client';
import type { Overview } from './types';

/** When the reader's day began: what "today" means is not the server's to say. */
function midnight(): string {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

export function useOverview(): UseQueryResult<Overview> {
  return useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => get<Overview>('/api/overview', { day: midnight() }, signal),
  });
}

/** Whether the visitor may only look. Until the server has said so, nothing that acts is drawn. */
export function useReadOnly(): boolean {
  return useOverview().data?.readOnly ?? true;
}
