import { Bell, BellOff, FolderGit2, Hourglass } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useLiveState } from '../api/live';
import { useOverview } from '../api/overview';
import type { Overview } from '../api/types';
import { Elapsed } from '../parts/Elapsed';
import { formatCount, formatTime } from '../parts/format';
import { Logo } from './Logo';
import { toggleNotifications, useNotificationState } from './notify';
import { PAGES } from './pages';
import css from './Rail.module.css';

interface Badge {
  readonly count: number;
  /** Explains the count to screen readers; set if the operator must act. */
  readonly request: string | null;
}

function getBadge(page: string, overview: Overview | undefined): Badge | null {
  if (overview === undefined) return null;
  if (page === 'Crew') return { count: overview.agents.running, request: null };
  if (page === 'Tasks') return { count: overview.openTasks, request: null };
  if (page === 'Mail' && overview.mail.needsAnswer > 0) return { count: overview.mail.needsAnswer, request: 'need an answer' };
  if (page === 'Mail' && overview.mail.unread > 0) return { count: overview.mail.unread, request: null };
  if (page === 'Reviews' && overview.reviews.forYou > 0) return { count: overview.reviews.forYou, request: 'wait for you' };
  return null;
}

/** True if an address belongs to a page. */
export function isCurrentPage(href: string, location: string): boolean {
  if (location === href || location.startsWith(`${href}/`)) return true;
  return href === '/crew' && (location === '/' || location.startsWith('/agents/'));
}

export function Rail() {
  const [location] = useLocation();
  const { data: overview } = useOverview();
  return (
    <nav className={css.rail} aria-label="Main">
      <div className={css.brand}>
        <Logo /> <span>Adjutant</span>
        <small>{overview?.version}</small>
      </div>
      <div className={css.home} title={overview?.home}>
        <FolderGit2 size={14} aria-hidden="true" />
        <span className="cut strong small">{overview?.project ?? ' '}</span>
      </div>
      <ul className={css.pages}>
        {PAGES.map(({ name, href, icon: Icon, key }) => {
          const badge = getBadge(name, overview);
          return (
            <li key={href}>
              <Link href={href} aria-current={isCurrentPage(href, location) ? 'page' : undefined} title={`${name} (g ${key})`}>
                <Icon size={16} aria-hidden="true" />
                <span>{name}</span>
                {badge !== null && (
                  <b className={badge.request === null ? css.count : css.asks}>
                    {formatCount(badge.count)}
                    {badge.request !== null && <span className="sr-only"> {badge.request}</span>}
                  </b>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
      <RailFooter overview={overview} />
    </nav>
  );
}

function RailFooter({ overview }: { readonly overview: Overview | undefined }) {
  const { lastEvent, phase } = useLiveState();
  const notifications = useNotificationState();
  const notificationLabel = { on: 'Notifications on', off: 'Notifications off', blocked: 'Notifications blocked' }[notifications];
  return (
    <div className={css.foot}>
      {overview?.limited.slice(0, 2).map((limited) => (
        <span key={limited.who} className={css.line}>
          <Hourglass size={12} aria-hidden="true" />
          <span className="cut grow">{limited.who} limited</span>
          until {formatTime(limited.until)}
        </span>
      ))}
      <button
        type="button"
        className={css.line}
        disabled={notifications === 'blocked'}
        title={notifications === 'blocked' ? 'This browser forbids notifications for this page' : 'Notify me of mail, approvals and failures'}
        onClick={() => void toggleNotifications()}
      >
        {notifications === 'on' ? <Bell size={12} aria-hidden="true" /> : <BellOff size={12} aria-hidden="true" />}
        {notificationLabel}
      </button>
      <span className={css.line}>
        <i className={phase === 'live' ? css.live : css.disconnected} />
        <span className="mono">event {lastEvent < 0 ? '…' : formatCount(lastEvent)}</span>
        <span className="grow" />
        {overview !== undefined && (
          <span>
            up <Elapsed from={overview.startedAt} rough />
          </span>
        )}
      </span>
    </div>
  );
}
