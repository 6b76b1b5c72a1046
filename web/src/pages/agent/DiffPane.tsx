import { Columns2, Rows2 } from 'lucide-react';
import { useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Diff } from '../../parts/diff/Diff';
import type { DiffView } from '../../parts/diff/rows';
import { EmptyState } from '../../parts/EmptyState';
import { formatCount } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { SegmentedControl } from '../../parts/SegmentedControl';
import { Skeleton } from '../../parts/Skeleton';
import type { AgentDiff } from '../../api/types';
import css from './Panes.module.css';

/** Target branch, line counts and view switch, beside the tabs. */
export function DiffSummary({ diff, view, onView }: { readonly diff: AgentDiff | undefined; readonly view: DiffView; readonly onView: (view: DiffView) => void }) {
  if (diff === undefined || diff.files.length === 0) return null;
  const sum = (side: 'added' | 'removed') => formatCount(diff.files.reduce((total, file) => total + file[side], 0));
  return (
    <span className={css.bar}>
      against <span className="mono">{diff.target ?? diff.base?.slice(0, 7)}</span>
      <span className="mono">
        <span className="plus">+{sum('added')}</span> <span className="minus">−{sum('removed')}</span>
      </span>
      <SegmentedControl
        label="Diff view"
        value={view}
        choices={[
          { value: 'unified', label: <span className="sr-only">Unified</span>, icon: <Rows2 size={14} aria-hidden="true" /> },
          { value: 'split', label: <span className="sr-only">Side by side</span>, icon: <Columns2 size={14} aria-hidden="true" /> },
        ]}
        onChange={onView}
      />
    </span>
  );
}

/** Changes of the agent against its target branch. */
export function DiffPane({ query, view }: { readonly query: UseQueryResult<AgentDiff>; readonly view: DiffView }) {
  const [seenPaths, setSeenPaths] = useState<ReadonlySet<string>>(new Set());
  const { data: diff, error } = query;
  if (diff === undefined) {
    return error === null ? <Skeleton rows={16} height={20} /> : <Problem error={error} title="The changes could not be read" onRetry={() => void query.refetch()} />;
  }
  if (diff.files.length === 0) {
    return (
      <EmptyState title={diff.why === null ? 'Nothing changed yet' : 'Nothing to compare'}>
        {diff.why === null ? 'Changes in its worktree are shown here as they happen, committed or not.' : `${diff.why[0]?.toUpperCase() ?? ''}${diff.why.slice(1)}.`}
      </EmptyState>
    );
  }
  const toggle = (path: string) =>
    setSeenPaths((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const notes = [
    diff.uncommitted && 'Some changes are not committed yet.',
    diff.truncated && 'The diff is very large; files that are not shown are marked.',
    diff.rescued !== null && `Uncommitted changes were saved on ${diff.rescued}.`,
  ].filter((note) => note !== false);
  return (
    <>
      {notes.length > 0 && <p className={css.strip}>{notes.join(' ')}</p>}
      <Diff patch={diff.patch} files={diff.files} view={view} seen={seenPaths} onSeen={toggle} label={`Changes of ${diff.branch ?? 'its branch'}`} />
    </>
  );
}
