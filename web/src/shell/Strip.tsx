import { CircleCheck, Eye, Unplug } from 'lucide-react';
import { live, useLiveState } from '../api/live';
import { useOverview } from '../api/overview';
import { Button } from '../parts/Button';
import { count, plural } from '../parts/format';
import { useNow } from '../parts/clock';
import css from './Strip.module.css';

function Away({ last, retryAt }: { readonly last: number; readonly retryAt: number | null }) {
  useNow();
  const seconds = retryAt === null ? 0 : Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  return (
    <div className={`${css.strip} ${css.away}`} role="status">
      <Unplug size={14} aria-hidden="true" />
      <b>The server is not reachable.</b>
      <span className="grow">
        Agents keep running. As of event {count(Math.max(0, last))}; {seconds === 0 ? 'trying now.' : `next try in ${seconds} s.`}
      </span>
      <Button small onClick={live.retry}>
        Now
      </Button>
    </div>
  );
}

/** Status line above the page: lost connection, caught-up events, or a read-only link. */
export function Strip() {
  const { phase, last, retryAt, caughtUp } = useLiveState();
  const { data } = useOverview();
  if (phase === 'away') return <Away last={last} retryAt={retryAt} />;
  if (caughtUp !== null) {
    return (
      <div className={`${css.strip} ${css.back}`} role="status">
        <CircleCheck size={14} aria-hidden="true" />
        <b>Back.</b>
        <span className="grow">{caughtUp === 0 ? 'No events were missed.' : `${plural(caughtUp, 'event')} received, none lost.`}</span>
      </div>
    );
  }
  if (data?.readOnly === true) {
    return (
      <div className={css.strip} role="status">
        <Eye size={14} aria-hidden="true" />
        <b>Read-only link.</b>
        <span className="grow">You can look at everything; buttons that act are not shown.</span>
      </div>
    );
  }
  return null;
}
