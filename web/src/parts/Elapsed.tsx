import { useNow } from './clock';
import { formatRoughDuration, formatDuration, formatTime } from './format';

interface Props {
  readonly from: string;
  /** End of the span; null while it continues. */
  readonly to?: string | null;
  /** Shows only the largest unit. */
  readonly rough?: boolean;
}

/** Duration of a span; ticks every second while it continues. */
export function Elapsed({ from, to = null, rough = false }: Props) {
  const now = useNow();
  const ms = (to === null ? now : Date.parse(to)) - Date.parse(from);
  return <time dateTime={`PT${Math.max(0, Math.round(ms / 1000))}S`}>{rough ? formatRoughDuration(ms) : formatDuration(ms)}</time>;
}

/** Time of day, with the full date in the tooltip. */
export function Timestamp({ at, seconds = false }: { readonly at: string; readonly seconds?: boolean }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString('en-GB')}>
      {formatTime(at, seconds)}
    </time>
  );
}
