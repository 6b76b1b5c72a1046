// Header of a review: title and facts.
import { ArrowLeft, Columns2, ExternalLink, GitBranch, Rows2, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../parts/Button';
import type { DiffView } from '../../parts/diff/rows';
import { SegmentedControl } from '../../parts/SegmentedControl';
import type { ReviewedPullRequest } from '../../api/types';
import { formatTarget } from './mergeQueue';
import css from './ReviewHeader.module.css';

interface Props {
  readonly title: string;
  readonly number?: string | undefined;
  readonly view?: DiffView;
  readonly onView?: (view: DiffView) => void;
  readonly pull?: ReviewedPullRequest | null | undefined;
  readonly onBack: () => void;
  readonly children: ReactNode;
}

export function ReviewHeader({ title, number, view, onView, pull, onBack, children }: Props) {
  return (
    <header className={css.head}>
      <div className={css.top}>
        <Button variant="quiet" icon={<ArrowLeft size={16} />} aria-label="Back to the list" className={css.back ?? ''} onClick={onBack} />
        <h2>{title}</h2>
        {number !== undefined && <span className="mono dim">{number}</span>}
        <span className="grow" />
        {view !== undefined && onView !== undefined && (
          <div className={css.look}>
            <SegmentedControl
              label="Diff view"
              value={view}
              choices={[
                { value: 'split', label: 'Split', icon: <Columns2 size={14} aria-hidden="true" /> },
                { value: 'unified', label: 'Unified', icon: <Rows2 size={14} aria-hidden="true" /> },
              ]}
              onChange={onView}
            />
          </div>
        )}
        {pull != null && (
          <a className={css.pull} href={pull.url} target="_blank" rel="noreferrer">
            <ExternalLink size={12} aria-hidden="true" /> Pull request {pull.number}
          </a>
        )}
      </div>
      <ul className={css.facts}>{children}</ul>
    </header>
  );
}

/** A fact with its icon. `state` selects the colour of the agent state with the same meaning. */
export function Fact({ icon: Icon, state, isProblem = false, children }: { readonly icon: LucideIcon; readonly state?: string; readonly isProblem?: boolean; readonly children: ReactNode }) {
  return (
    <li className={isProblem ? css.bad : undefined}>
      <span className={css.shape} data-state={state}>
        <Icon size={14} aria-hidden="true" />
      </span>
      <span>{children}</span>
    </li>
  );
}

/** Branch and its distance from the target. */
export function BranchFact({ branch, target, behind }: { readonly branch: string; readonly target: string | null; readonly behind: number | null }) {
  return (
    <Fact icon={GitBranch}>
      <code>{branch}</code>
      {target !== null && (
        <span title={target}>{behind === null || behind === 0 ? ` merges into ${formatTarget(target)}` : ` is ${behind} behind ${formatTarget(target)}`}</span>
      )}
    </Fact>
  );
}
