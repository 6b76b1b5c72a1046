// Header of a review: title and facts.
import { ArrowLeft, Columns2, ExternalLink, GitBranch, Rows2, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../parts/Button';
import { Segmented } from '../../parts/Segmented';
import type { PullRequest } from '../../api/types';
import { targetName } from './train';
import css from './Head.module.css';

export type DiffLook = 'split' | 'unified';

interface Props {
  readonly title: string;
  readonly number?: string | undefined;
  readonly look?: DiffLook;
  readonly onLook?: (look: DiffLook) => void;
  readonly pull?: PullRequest | null | undefined;
  readonly onBack: () => void;
  readonly children: ReactNode;
}

export function Head({ title, number, look, onLook, pull, onBack, children }: Props) {
  return (
    <header className={css.head}>
      <div className={css.top}>
        <Button look="quiet" icon={<ArrowLeft size={16} />} aria-label="Back to the list" className={css.back ?? ''} onClick={onBack} />
        <h2>{title}</h2>
        {number !== undefined && <span className="mono dim">{number}</span>}
        <span className="grow" />
        {look !== undefined && onLook !== undefined && (
          <div className={css.look}>
            <Segmented
              label="How the changes are shown"
              value={look}
              choices={[
                { value: 'split', label: 'Split', icon: <Columns2 size={14} aria-hidden="true" /> },
                { value: 'unified', label: 'Unified', icon: <Rows2 size={14} aria-hidden="true" /> },
              ]}
              onChange={onLook}
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
export function Fact({ icon: Icon, state, bad = false, children }: { readonly icon: LucideIcon; readonly state?: string; readonly bad?: boolean; readonly children: ReactNode }) {
  return (
    <li className={bad ? css.bad : undefined}>
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
        <span title={target}>{behind === null || behind === 0 ? ` merges into ${targetName(target)}` : ` is ${behind} behind ${targetName(target)}`}</span>
      )}
    </Fact>
  );
}
