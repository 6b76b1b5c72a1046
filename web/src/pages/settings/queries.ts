// Queries and actions of the settings page.
import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { get, post } from '../../api/client';
import { kinds, useRefresh } from '../../api/live';
import type { Form } from './saving';
import type { CheckedChange, SavedSettings, SettingsChange, SettingsView } from '../../api/types';

const KEY = ['settings'] as const;
/** Delay after the last keystroke before an edit is checked. */
const PAUSE = 300;

export function useSettings(): UseQueryResult<SettingsView> {
  useRefresh(kinds('config.reloaded'), [KEY]);
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => get<SettingsView>('/api/settings', {}, signal) });
}

/** Returns a value once it has not changed for the delay. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export interface Check {
  readonly checked: CheckedChange | null;
  /** True if the result belongs to an older state of the form. */
  readonly stale: boolean;
  readonly error: Error | null;
  readonly again: () => void;
}

/** Checks an edit while the visitor types. `baseHash` identifies the edited version of the file. */
export function useCheck(change: SettingsChange | null, was: string): Check {
  const text = change === null ? '' : JSON.stringify(change);
  const settled = useSettled(text);
  const query = useQuery({
    queryKey: ['settings-check', was, settled],
    queryFn: () => post<CheckedChange>('/api/settings/check', JSON.parse(settled)),
    enabled: settled !== '',
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
  if (text === '') return { checked: null, stale: false, error: null, again: () => undefined };
  return {
    checked: query.data ?? null,
    stale: settled !== text || query.isPlaceholderData || query.isPending,
    error: query.error,
    again: () => void query.refetch(),
  };
}

/** A save: the edit, the edited version of the file, and the form at that time. */
export interface Saving {
  readonly change: SettingsChange;
  readonly was: string | null;
  readonly form: Form;
}

export function useSave(onSaved: (saved: SavedSettings, form: Form) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ change, was }: Saving) => post<SavedSettings>('/api/settings/save', { ...change, ...(was === null ? {} : { was }) }),
    onSuccess: async (saved, { form }) => {
      await client.invalidateQueries({ queryKey: KEY });
      onSaved(saved, form);
    },
  });
}
