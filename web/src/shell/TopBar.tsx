import { Plus, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { useOverview, useReadOnly } from '../api/overview';
import { Button } from '../parts/Button';
import { Meter } from '../parts/Meter';
import { formatMoney } from '../parts/format';
import { openPalette, openStartAgent } from './overlay';
import css from './TopBar.module.css';

/** Limit of slots drawn as dots; more are shown as a number. */
const MAX_DRAWN_SLOTS = 16;

function UsageSummary() {
  const { data } = useOverview();
  if (data === undefined) return <div className={css.usage} />;
  const { used, max, queued } = data.running;
  const { usd, limitUsd } = data.today;
  return (
    <div className={css.usage}>
      <span title="The number of slots is limits.running. Agents that wait for others, and agents that you run yourself, occupy none.">
        {max <= MAX_DRAWN_SLOTS && (
          <span className={css.slots} aria-hidden="true">
            {Array.from({ length: max }, (_, slot) => (
              <i key={slot} className={slot < used ? undefined : css.free} />
            ))}
          </span>
        )}
        <b>{data.agents.running}</b> running, {used} of {max} slots{queued > 0 && `, ${queued} queued`}
      </span>
      <span>
        <b>{formatMoney(usd)}</b> {limitUsd !== null && `of ${formatMoney(limitUsd)} `}today
        {limitUsd !== null && (
          <>
            {' '}
            <Meter value={usd} max={limitUsd} label="Spent today" text={`${formatMoney(usd)} of ${formatMoney(limitUsd)}`} />
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
      <UsageSummary />
      <button type="button" className={css.find} onClick={() => openPalette()}>
        <Search size={14} aria-hidden="true" />
        <span>Search or run a command</span>
        <kbd aria-hidden="true">⌘K</kbd>
      </button>
      {!readOnly && (
        <Button variant="primary" icon={<Plus size={14} aria-hidden="true" />} onClick={() => openStartAgent()} className={css.start ?? ''}>
          <span>Start agent</span>
        </Button>
      )}
    </header>
  );
}
