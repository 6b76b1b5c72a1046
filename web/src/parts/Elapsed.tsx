import { useNow } from './clock';
import { roughly, span, time } from './format';

interface Props {
  readonly from: string;
  /** Where it ended; null while it goes on. */
  readonly to?: string | null;
  /** In its greatest unit alone. */
  readonly rough?: boolean;
}

/** How long something takes or took; it ticks with everything else that does. */
export function Elapsed({ from, to = null, rough = false }: Props) {
  const now = useNow();
  const ms = (to === null ? now : Date.parse(to)) - Date.parse(from);
  return <time dateTime={`PT${Math.max(0, Math.round(ms / 1000))}S`}>{rough ? roughly(ms) : span(ms)}</time>;
}

/** A time of day, with the whole of it in the tooltip. */
export function At({ at, seconds = false }: { readonly at: string; readonly seconds?: boolean }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString('en-GB')}>
      {time(at, seconds)}
    </time>
  );
}
