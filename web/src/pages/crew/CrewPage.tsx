import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useOverview, useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { serverNow, useNow } from '../../parts/clock';
import { Dialog } from '../../parts/Dialog';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Search } from '../../parts/Search';
import { Segmented, type Choice } from '../../parts/Segmented';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { openStart } from '../../shell/open';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { Asks } from './Asks';
import { Dock, DockBody, mailTo, type Asking } from './Dock';
import { WINDOWS, axisOf, type Axis, type WindowName } from './lanes';
import { Legend } from './Legend';
import { Needs } from './Needs';
import { isFlat, type CrewFilter } from './view';
import { Tree } from './Tree';
import { flatten } from './levels';
import { treeKeys } from './treeKeys';
import { useCrew, type Crew } from './useCrew';
import { useRoom } from '../../parts/media';
import { actsOf, nameOf } from './words';
import css from './CrewPage.module.css';

const WINDOW_CHOICES: readonly Choice<WindowName>[] = [
  { value: '15m', label: '15 m' },
  { value: '1h', label: '1 h' },
  { value: '6h', label: '6 h' },
];

/** Rebases the axis when it has moved by its own length, and when its window changes. */
function useAxis(window: number): Axis {
  const now = useNow();
  const [base, setBase] = useState(serverNow);
  const axis = useMemo(() => axisOf(base, window), [base, window]);
  useEffect(() => {
    if (now - base > axis.past) setBase(serverNow());
  }, [now, base, axis]);
  return axis;
}

function useLater<T>(value: T, ms: number): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return later;
}

function Nothing({ crew, standing, q, onClear }: { readonly crew: Crew; readonly standing: CrewFilter; readonly q: string; readonly onClear: () => void }) {
  const readOnly = useReadOnly();
  if (crew.phase === 'failed') return <Problem error={crew.error} title="The crew could not be read" onRetry={crew.reload} />;
  if (q.trim() !== '' || standing !== 'all') {
    const what = q.trim() === '' ? `is ${standing}` : `has “${q.trim()}” in its role, id or task`;
    return (
      <Empty title="Nobody here" action={<Button onClick={onClear}>Clear the filter</Button>}>
        No agent {what}.
      </Empty>
    );
  }
  return (
    <Empty
      title="No agents yet"
      commands={['adjutant demo', 'adjutant run -p "…"']}
      action={readOnly ? undefined : <Button look="primary" onClick={() => openStart()}>Start agent</Button>}
    >
      Agents that you start, and all that they start, are shown here as a live tree. `adjutant demo` runs a small crew without a model.
    </Empty>
  );
}

export default function CrewPage() {
  const [, go] = useLocation();
  const width = useRoom();
  const readOnly = useReadOnly();
  const { data: overview } = useOverview();
  const [standing, setStanding] = useParam<CrewFilter>('state', 'all');
  const [q, setQ] = useParam<string>('q', '');
  const [name, setName] = useParam<WindowName>('window', '1h');
  const [selected, setSelected] = useParam<string>('agent', '');
  const [asking, setAsking] = useState<Asking | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const window = WINDOWS[name] ?? WINDOWS['1h'];
  const axis = useAxis(window);
  const view = { state: standing, q: useLater(q, 200) };
  const crew = useCrew(view, window, selected);
  const { tree } = crew;
  const items = useMemo(() => flatten(tree, isFlat({ state: view.state, q: view.q })), [tree, view.state, view.q]);
  const row = tree.rows.get(selected);
  const open = useCallback((id: string) => go(`/agents/${id}`), [go]);
  const select = useCallback(
    (id: string) => {
      if (width === 'phone') open(id);
      else setSelected(id);
    },
    [width, open, setSelected],
  );
  const keys = treeKeys({ items, selected, select: setSelected, open, fold: crew.setOpen, past: crew.setPastOpen, focus: () => box.current?.focus() });
  // Closing a dialog returns the focus to the tree, which handles the keys.
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current && asking === null) box.current?.focus();
    asked.current = asking !== null;
  }, [asking]);
  const acts = row === undefined ? null : actsOf(row);
  useKeys({
    ...keys.letters,
    ...(row === undefined ? {} : { a: () => acts?.attach === true && setAsking('attach') }),
    ...(row === undefined || readOnly
      ? {}
      : { m: () => go(mailTo(row)), x: () => acts?.kill === true && setAsking('kill'), X: () => acts?.kill === true && setAsking('kill') }),
  });
  const counts = overview?.agents;
  const choices: readonly Choice<CrewFilter>[] = (
    [['all', 'All'], ['running', 'Running'], ['waiting', 'Waiting'], ['queued', 'Queued'], ['ended', 'Ended']] as const
  )
    .filter(([value]) => width !== 'phone' || value !== 'queued')
    .map(([value, label]) => ({ value, label, ...(counts === undefined || (width === 'phone' && (value === 'all' || value === 'ended')) ? {} : { count: counts[value] }) }));
  const answered = () => setAsking(null);
  const clear = () => {
    setStanding('all');
    setQ('');
  };
  const dock = row !== undefined && width !== 'phone';
  return (
    <Page name="Crew">
      <Needs width={width} />
      <div className={css.bar}>
        <Segmented label="Which agents" value={standing} choices={choices} onChange={setStanding} />
        {width !== 'phone' && <Search label="Filter agents" value={q} onChange={setQ} />}
        <span className="grow" />
        {width !== 'phone' && <Legend />}
        {width !== 'phone' && <Segmented label="How far back" value={name} choices={WINDOW_CHOICES} onChange={setName} />}
      </div>
      {crew.phase === 'loading' && <Skeleton rows={14} height={width === 'phone' ? 54 : 32} />}
      {crew.phase !== 'loading' && items.length === 0 && <Nothing crew={crew} standing={standing} q={q} onClear={clear} />}
      {items.length > 0 && (
        <Tree
          tree={tree} items={items} axis={axis} window={window} look={width === 'phone' ? 'phone' : 'wide'} selected={selected} box={box}
          onSelect={select} onOpen={open} onFold={crew.setOpen} onPast={crew.setPastOpen} onMore={crew.more} onLook={crew.look}
          onKeyDown={keys.onKeyDown} unseen={crew.unseen} onShowNew={crew.showNew}
        />
      )}
      {dock && width === 'wide' && <Dock row={row} onAsk={setAsking} />}
      {dock && width === 'narrow' && asking === null && (
        <Dialog form="sheet" title={`${nameOf(row)} ${row.short}`} onClose={() => setSelected('')}>
          <DockBody row={row} onAsk={setAsking} />
        </Dialog>
      )}
      {asking !== null && row !== undefined && <Asks what={asking} row={row} onClose={answered} onDone={crew.renew} />}
    </Page>
  );
}
