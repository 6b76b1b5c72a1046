// The state of a view lives in the address, so that a link shows the same.
import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** One parameter of the address. Setting it to its default takes it out; no step back is made of it. */
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
