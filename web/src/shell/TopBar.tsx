import { Plus, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { useOverview, useReadOnly } from '../api/overview';
import { Button } from '../parts/Button';
import { Meter } from '../parts/Meter';
import { money } from '../parts/format';
import { openPalette, openStart } from './open';
import css from './TopBar.module.css';

/** Limit of slots drawn as dots; more are shown as a number. */
const MOST_SLOTS = 16;

function Pulse() {
  const { data } = useOverview();
  if (data === undefined) return <div className={css.pulse} />;
  const { used, max, queued } = data.running;
  const { usd, limitUsd } = data.today;
  return (
    <div className={css.pulse}>
      <span title="Places are limits.running. An agent that waits for others, and one that you run yourself, takes none.">
        {max <= MOST_SLOTS && (
          <span className={css.slots} aria-hidden="true">
            {Array.from({ length: max }, (_, slot) => (
              <i key={slot} className={slot < used ? undefined : css.free} />
            ))}
          </span>
        )}
        <b>{data.agents.running}</b> running, {used} of {max} places{queued > 0 && `, ${queued} queued`}
      </span>
      <span>
        <b>{money(usd)}</b> {limitUsd !== null && `of ${money(limitUsd)} `}today
        {limitUsd !== null && (
          <>
            {' '}
            <Meter value={usd} max={limitUsd} label="Spent today" text={`${money(usd)} of ${money(limitUsd)}`} />
          </>
        )}
      </span>
    </div>
  );
}

/** Bar above every page: title or breadcrumbs, and the use of slots and money. */
export function TopBar({ title }: { readonly title: ReactNode }) {
  const readOnly = useReadOnly();
  return (
    <header className={css.top}>
      {typeof title === 'string' ? <h1>{title}</h1> : title}
      <Pulse />
      <button type="button" className={css.find} onClick={() => openPalette()}>
        <Search size={14} aria-hidden="true" />
        <span>Search or run a command</span>
        <kbd aria-hidden="true">⌘K</kbd>
      </button>
      {!readOnly && (
        <Button look="primary" icon={<Plus size={14} aria-hidden="true" />} onClick={() => openStart()} className={css.start ?? ''}>
          <span>Start agent</span>
        </Button>
      )}
    </header>
  );
}
