// State of a view in the address, so that a link reproduces it.
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** A parameter of the address. The default value removes it. Changes add no history entry. */
export function useParam<T extends string>(name: string, otherwise: T): [T, (value: T) => void] {
  const [params, setParams] = useSearchParams();
  const value = (params.get(name) ?? otherwise) as T;
  const set = useCallback(
    (next: T) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          if (next === otherwise) after.delete(name);
          else after.set(name, next);
          return after;
        },
        { replace: true },
      ),
    [name, otherwise, setParams],
  );
  return [value, set];
}
