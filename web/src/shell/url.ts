// State of a view in the address, so that a link reproduces it.
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** A parameter of the address. The default value removes it. Changes add no history entry. */
export function useParam<T extends string>(name: string, defaultValue: T): [T, (value: T) => void] {
  const [params, setParams] = useSearchParams();
  const value = (params.get(name) ?? defaultValue) as T;
  const setValue = useCallback(
    (next: T) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          if (next === defaultValue) after.delete(name);
          else after.set(name, next);
          return after;
        },
        { replace: true },
      ),
    [name, defaultValue, setParams],
  );
  return [value, setValue];
}
