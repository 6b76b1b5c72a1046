import { useEffect, useRef, useState, type RefObject } from 'react';

/** How wide an element is, so that a plot is drawn in real pixels and its words are not stretched. */
export function useWidth<T extends HTMLElement>(otherwise = 600): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(otherwise);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const found = Math.floor(entry?.contentRect.width ?? 0);
      if (found > 0) setWidth(found);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
