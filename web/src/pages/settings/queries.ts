// Queries and actions of the settings page.
import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { get, post } from '../../api/client';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import type { UnsavedForm } from './saving';
import type { CheckedEdit, SavedSettings, SettingsEdit, SettingsView } from '../../api/types';

const SETTINGS_KEY = ['settings'] as const;
/** Delay after the last keystroke before an edit is checked. */
const TYPING_DELAY_MS = 300;

export function useSettings(): UseQueryResult<SettingsView> {
  useRefreshOnEvents(matchKinds('config.reloaded'), [SETTINGS_KEY]);
  return useQuery({ queryKey: SETTINGS_KEY, queryFn: ({ signal }) => get<SettingsView>('/api/settings', {}, signal) });
}

/** Returns a value once it has not changed for the delay. */
function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), TYPING_DELAY_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}

export interface EditCheck {
  readonly checked: CheckedEdit | null;
  /** True if the result belongs to an older state of the form. */
  readonly isStale: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Checks an edit while the visitor types. `baseHash` identifies the edited version of the file. */
export function useEditCheck(edit: SettingsEdit | null, baseHash: string): EditCheck {
  const editJson = edit === null ? '' : JSON.stringify(edit);
  const settledJson = useDebounced(editJson);
  const query = useQuery({
    queryKey: ['settings-check', baseHash, settledJson],
    queryFn: () => post<CheckedEdit>('/api/settings/check', JSON.parse(settledJson)),
    enabled: settledJson !== '',
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
  if (editJson === '') return { checked: null, isStale: false, error: null, retry: () => undefined };
  return {
    checked: query.data ?? null,
    isStale: settledJson !== editJson || query.isPlaceholderData || query.isPending,
    error: query.error,
    retry: () => void query.refetch(),
  };
}

/** A save: the edit, the edited version of the file, and the form at that time. */
export interface SaveRequest {
  readonly edit: SettingsEdit;
  readonly baseHash: string | null;
  readonly form: UnsavedForm;
}

export function useSave(onSaved: (saved: SavedSettings, form: UnsavedForm) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ edit, baseHash }: SaveRequest) => post<SavedSettings>('/api/settings/save', { ...edit, ...(baseHash === null ? {} : { was: baseHash }) }),
    onSuccess: async (saved, { form }) => {
      await client.invalidateQueries({ queryKey: SETTINGS_KEY });
      onSaved(saved, form);
    },
  });
}
