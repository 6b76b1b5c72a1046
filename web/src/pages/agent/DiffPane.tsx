import { Columns2, Rows2 } from 'lucide-react';
import { useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Diff } from '../../parts/diff/Diff';
import type { View } from '../../parts/diff/rows';
import { Empty } from '../../parts/Empty';
import { count } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Segmented } from '../../parts/Segmented';
import { Skeleton } from '../../parts/Skeleton';
import type { AgentDiff } from '../../api/types';
import css from './Panes.module.css';

/** Target branch, line counts and view switch, beside the tabs. */
export function DiffAside({ diff, view, onView }: { readonly diff: AgentDiff | undefined; readonly view: View; readonly onView: (view: View) => void }) {
  if (diff === undefined || diff.files.length === 0) return null;
  const sum = (side: 'added' | 'removed') => count(diff.files.reduce((all, file) => all + file[side], 0));
  return (
    <span className={css.bar}>
      against <span className="mono">{diff.target ?? diff.base?.slice(0, 7)}</span>
      <span className="mono">
        <span className="plus">+{sum('added')}</span> <span className="minus">−{sum('removed')}</span>
      </span>
      <Segmented
        label="How the diff is shown"
        value={view}
        choices={[
          { value: 'unified', label: <span className="sr-only">On one side</span>, icon: <Rows2 size={14} aria-hidden="true" /> },
          { value: 'split', label: <span className="sr-only">Side by side</span>, icon: <Columns2 size={14} aria-hidden="true" /> },
        ]}
        onChange={onView}
      />
    </span>
  );
}

/** Changes of the agent against its target branch. */
export function DiffPane({ query, view }: { readonly query: UseQueryResult<AgentDiff>; readonly view: View }) {
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const { data: diff, error } = query;
  if (diff === undefined) {
    return error === null ? <Skeleton rows={16} height={20} /> : <Problem error={error} title="Its changes could not be read" onRetry={() => void query.refetch()} />;
  }
  if (diff.files.length === 0) {
    return (
      <Empty title={diff.why === null ? 'Nothing changed yet' : 'Nothing to compare'}>
        {diff.why === null ? 'Changes in its worktree are shown here as they happen, committed or not.' : `${diff.why[0]?.toUpperCase() ?? ''}${diff.why.slice(1)}.`}
      </Empty>
    );
  }
  const toggle = (path: string) =>
    setSeen((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const words = [
    diff.uncommitted && 'Some of this is not committed yet.',
    diff.truncated && 'The diff is very large; files that are not shown are marked.',
    diff.rescued !== null && `Uncommitted changes were saved on ${diff.rescued}.`,
  ].filter((word) => word !== false);
  return (
    <>
      {words.length > 0 && <p className={css.strip}>{words.join(' ')}</p>}
      <Diff patch={diff.patch} files={diff.files} view={view} seen={seen} onSeen={toggle} label={`Changes of ${diff.branch ?? 'its branch'}`} />
    </>
  );
}
