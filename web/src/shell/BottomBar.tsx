import { Ellipsis } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useOverview } from '../api/overview';
import { openPalette } from './overlay';
import { PAGES } from './pages';
import { isCurrentPage } from './Rail';
import css from './BottomBar.module.css';

/** Navigation bar of a phone; the palette has the other pages. */
export function BottomBar() {
  const [location] = useLocation();
  const { data: overview } = useOverview();
  const countRequests = (name: string) => {
    if (name === 'Mail') return overview?.mail.needsAnswer ?? 0;
    return name === 'Reviews' ? (overview?.reviews.forYou ?? 0) : 0;
  };
  return (
    <nav className={css.bar} aria-label="Main">
      {PAGES.slice(0, 4).map(({ name, href, icon: Icon }) => (
        <Link key={href} href={href} aria-current={isCurrentPage(href, location) ? 'page' : undefined}>
          <Icon size={20} aria-hidden="true" />
          {name}
          {countRequests(name) > 0 && (
            <b>
              {countRequests(name)}
              <span className="sr-only"> need you</span>
            </b>
          )}
        </Link>
      ))}
      <button type="button" onClick={() => openPalette()}>
        <Ellipsis size={20} aria-hidden="true" />
        More
      </button>
    </nav>
  );
}
