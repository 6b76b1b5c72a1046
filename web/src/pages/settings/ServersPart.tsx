// The servers of the home: which one owns it, which follow and how far, and what a commit waits for.
import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/client';
import { formatCount, pluralize } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { describeLag, STANDBY_TEXTS } from './servers';
import type { ServerStatus, SharedHomeStatus } from '../../api/types';
import css from './Servers.module.css';

/** Interval at which the servers are asked for again. */
const REFRESH_MS = 5000;

function SharedServers({ home }: { readonly home: SharedHomeStatus }) {
  return (
    <>
      <section className={css.block} aria-label="Servers">
        <table className={css.servers}>
          <thead>
            <tr>
              <th scope="col">Server</th>
              <th scope="col">Role</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td className="cut">
                <code>{home.url}</code>
              </td>
              <td>Owner</td>
              <td>Answers all requests; owner number {formatCount(home.epoch)}</td>
            </tr>
            {home.followers.map((follower) => (
              <tr key={follower.machine}>
                <td className="cut">
                  <code>{follower.url}</code>
                </td>
                <td>Follows</td>
                <td>{describeLag(follower)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {home.followers.length === 0 && home.problem == null && <p className="small mid">No other server follows. If this one dies, its agents wait until you start another one.</p>}
        {home.problem != null && <Problem error={new Error(home.problem)} title="PostgreSQL cannot be asked" />}
      </section>
      {home.standby != null && (
        <section className={css.block} aria-label="Standby of PostgreSQL">
          <h3>Standby of PostgreSQL: {home.standby.mode}</h3>
          <p className="small mid">
            {STANDBY_TEXTS[home.standby.mode]} {home.standby.awaited != null && <code>{home.standby.awaited}</code>} {pluralize(home.standby.connected, 'standby', 'standbys')} connected.
          </p>
        </section>
      )}
    </>
  );
}

export function ServersPart() {
  const status = useQuery({ queryKey: ['status'], queryFn: ({ signal }) => get<ServerStatus>('/api/status', {}, signal), refetchInterval: REFRESH_MS });
  if (status.data === undefined) {
    return status.error === null ? <Skeleton rows={3} /> : <Problem error={status.error} title="The servers cannot be shown" />;
  }
  const { sharedHome, url, version, home } = status.data;
  return (
    <div className={css.part}>
      {sharedHome == null ? (
        <section className={css.block} aria-label="Servers">
          <p>
            One server on one machine: <code>{url}</code>, version {version}.
          </p>
          <p className="small mid">
            It keeps the home in <code>{home}</code>. To let another server take over when this machine dies, move the home into PostgreSQL with <code>adjutant home import</code>.
          </p>
        </section>
      ) : (
        <SharedServers home={sharedHome} />
      )}
    </div>
  );
}
