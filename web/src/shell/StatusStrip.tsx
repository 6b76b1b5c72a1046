import { CircleCheck, Eye, Unplug } from 'lucide-react';
import { liveEvents, useLiveState } from '../api/live';
import { useOverview } from '../api/overview';
import { Button } from '../parts/Button';
import { formatCount, pluralize } from '../parts/format';
import { useNow } from '../parts/clock';
import css from './StatusStrip.module.css';

function DisconnectedStrip({ lastEvent, retryAt }: { readonly lastEvent: number; readonly retryAt: number | null }) {
  useNow();
  const seconds = retryAt === null ? 0 : Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  return (
    <div className={`${css.strip} ${css.disconnected}`} role="status">
      <Unplug size={14} aria-hidden="true" />
      <b>The server is not reachable.</b>
      <span className="grow">
        Agents keep running. As of event {formatCount(Math.max(0, lastEvent))}; {seconds === 0 ? 'retrying now.' : `next attempt in ${seconds} s.`}
      </span>
      <Button small onClick={liveEvents.retry}>
        Retry now
      </Button>
    </div>
  );
}

/** Status line above the page: lost connection, caught-up events, or a read-only link. */
export function StatusStrip() {
  const { phase, lastEvent, retryAt, caughtUpCount } = useLiveState();
  const { data } = useOverview();
  if (phase === 'disconnected') return <DisconnectedStrip lastEvent={lastEvent} retryAt={retryAt} />;
  if (caughtUpCount !== null) {
    return (
      <div className={`${css.strip} ${css.reconnected}`} role="status">
        <CircleCheck size={14} aria-hidden="true" />
        <b>Reconnected.</b>
        <span className="grow">{caughtUpCount === 0 ? 'No events were missed.' : `${pluralize(caughtUpCount, 'event')} received, none lost.`}</span>
      </div>
    );
  }
  if (data?.readOnly === true) {
    return (
      <div className={css.strip} role="status">
        <Eye size={14} aria-hidden="true" />
        <b>Read-only link.</b>
        <span className="grow">You can see everything but change nothing.</span>
      </div>
    );
  }
  return null;
}
