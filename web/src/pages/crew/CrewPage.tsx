import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useOverview, useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { getServerTime, useNow } from '../../parts/clock';
import { Dialog } from '../../parts/Dialog';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { FilterInput } from '../../parts/FilterInput';
import { SegmentedControl, type Choice } from '../../parts/SegmentedControl';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { openStartAgent } from '../../shell/overlay';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { AgentDialog } from './AgentDialog';
import { Dock, DockBody, buildMailLink, type AgentAction } from './Dock';
import { WINDOW_MS, buildAxis, type LaneAxis, type WindowName } from './lanes';
import { Legend } from './Legend';
import { NeedsList } from './NeedsList';
import { isFlat, type CrewFilter } from './view';
import { CrewTree } from './CrewTree';
import { flattenTree } from './levels';
import { createTreeKeys } from './treeKeys';
import { useCrew, type CrewHandle } from './useCrew';
import { useLayoutWidth } from '../../parts/media';
import { getAllowedActions, getAgentName } from './agentText';
import css from './CrewPage.module.css';

const WINDOW_CHOICES: readonly Choice<WindowName>[] = [
  { value: '15m', label: '15 m' },
  { value: '1h', label: '1 h' },
  { value: '6h', label: '6 h' },
];

/** Rebases the axis when it has moved by its own length, and when its window changes. */
function useAxis(window: number): LaneAxis {
  const now = useNow();
  const [base, setBase] = useState(getServerTime);
  const axis = useMemo(() => buildAxis(base, window), [base, window]);
  useEffect(() => {
    if (now - base > axis.past) setBase(getServerTime());
  }, [now, base, axis]);
  return axis;
}

function useDebounced<T>(value: T, ms: number): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return debounced;
}

function EmptyCrew({ crew, stateFilter, q, onClear }: { readonly crew: CrewHandle; readonly stateFilter: CrewFilter; readonly q: string; readonly onClear: () => void }) {
  const readOnly = useReadOnly();
  if (crew.phase === 'failed') return <Problem error={crew.error} title="The crew could not be read" onRetry={crew.reload} />;
  if (q.trim() !== '' || stateFilter !== 'all') {
    const condition = q.trim() === '' ? `is ${stateFilter}` : `has “${q.trim()}” in its role, id or task`;
    return (
      <EmptyState title="No matching agents" action={<Button onClick={onClear}>Clear the filter</Button>}>
        No agent {condition}.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No agents yet"
      commands={['adjutant demo', 'adjutant run -p "…"']}
      action={readOnly ? undefined : <Button variant="primary" onClick={() => openStartAgent()}>Start agent</Button>}
    >
      Agents that you start, and all that they start, are shown here as a live tree. `adjutant demo` runs a small crew without a model.
    </EmptyState>
  );
}

export default function CrewPage() {
  const [, navigate] = useLocation();
  const layout = useLayoutWidth();
  const readOnly = useReadOnly();
  const { data: overview } = useOverview();
  const [stateFilter, setStateFilter] = useParam<CrewFilter>('state', 'all');
  const [q, setQ] = useParam<string>('q', '');
  const [windowName, setWindowName] = useParam<WindowName>('window', '1h');
  const [selected, setSelected] = useParam<string>('agent', '');
  const [action, setAction] = useState<AgentAction | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const window = WINDOW_MS[windowName] ?? WINDOW_MS['1h'];
  const axis = useAxis(window);
  const view = { state: stateFilter, q: useDebounced(q, 200) };
  const crew = useCrew(view, window, selected);
  const { tree } = crew;
  const items = useMemo(() => flattenTree(tree, isFlat({ state: view.state, q: view.q })), [tree, view.state, view.q]);
  const row = tree.rows.get(selected);
  const open = useCallback((id: string) => navigate(`/agents/${id}`), [navigate]);
  const select = useCallback(
    (id: string) => {
      if (layout === 'phone') open(id);
      else setSelected(id);
    },
    [layout, open, setSelected],
  );
  const keys = createTreeKeys({ items, selected, select: setSelected, open, fold: crew.setOpen, past: crew.setPastOpen, focus: () => box.current?.focus() });
  // Closing a dialog returns the focus to the tree, which handles the keys.
  const wasDialogOpen = useRef(false);
  useEffect(() => {
    if (wasDialogOpen.current && action === null) box.current?.focus();
    wasDialogOpen.current = action !== null;
  }, [action]);
  const allowed = row === undefined ? null : getAllowedActions(row);
  useKeys({
    ...keys.letterKeys,
    ...(row === undefined ? {} : { a: () => allowed?.attach === true && setAction('attach') }),
    ...(row === undefined || readOnly
      ? {}
      : { m: () => navigate(buildMailLink(row)), x: () => allowed?.kill === true && setAction('kill'), X: () => allowed?.kill === true && setAction('kill') }),
  });
  const counts = overview?.agents;
  const choices: readonly Choice<CrewFilter>[] = (
    [['all', 'All'], ['running', 'Running'], ['waiting', 'Waiting'], ['queued', 'Queued'], ['ended', 'Ended']] as const
  )
    .filter(([value]) => layout !== 'phone' || value !== 'queued')
    .map(([value, label]) => ({ value, label, ...(counts === undefined || (layout === 'phone' && (value === 'all' || value === 'ended')) ? {} : { count: counts[value] }) }));
  const closeDialog = () => setAction(null);
  const clearFilter = () => {
    setStateFilter('all');
    setQ('');
  };
  const hasDock = row !== undefined && layout !== 'phone';
  return (
    <Page name="Crew">
      <NeedsList layout={layout} />
      <div className={css.bar}>
        <SegmentedControl label="State" value={stateFilter} choices={choices} onChange={setStateFilter} />
        {layout !== 'phone' && <FilterInput label="Filter agents" value={q} onChange={setQ} />}
        <span className="grow" />
        {layout !== 'phone' && <Legend />}
        {layout !== 'phone' && <SegmentedControl label="Time window" value={windowName} choices={WINDOW_CHOICES} onChange={setWindowName} />}
      </div>
      {crew.phase === 'loading' && <Skeleton rows={14} height={layout === 'phone' ? 54 : 32} />}
      {crew.phase !== 'loading' && items.length === 0 && <EmptyCrew crew={crew} stateFilter={stateFilter} q={q} onClear={clearFilter} />}
      {items.length > 0 && (
        <CrewTree
          tree={tree} items={items} axis={axis} window={window} layout={layout === 'phone' ? 'phone' : 'wide'} selected={selected} box={box}
          onSelect={select} onOpen={open} onFold={crew.setOpen} onPast={crew.setPastOpen} onMore={crew.loadMore} onVisible={crew.reportVisible}
          onKeyDown={keys.onKeyDown} newCount={crew.newCount} onShowNew={crew.showNew}
        />
      )}
      {hasDock && layout === 'wide' && <Dock row={row} onAction={setAction} />}
      {hasDock && layout === 'narrow' && action === null && (
        <Dialog variant="sheet" title={`${getAgentName(row)} ${row.short}`} onClose={() => setSelected('')}>
          <DockBody row={row} onAction={setAction} />
        </Dialog>
      )}
      {action !== null && row !== undefined && <AgentDialog action={action} row={row} onClose={closeDialog} onDone={crew.refreshRows} />}
    </Page>
  );
}
