import { GitFork, List, Plus, Spline, SquareKanban } from 'lucide-react';
import { lazy, Suspense, useCallback, useDeferredValue, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Search } from '../../parts/Search';
import { Segmented } from '../../parts/Segmented';
import { Skeleton, useLate } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { Assign } from './Assign';
import { Board } from './Board';
import { total } from './board';
import { Epics } from './Epics';
import { Inspector } from './Inspector';
import { usePhone } from '../../parts/media';
import { MoveDialog } from './MoveDialog';
import { cancel, COLUMN_WORDS } from './moves';
import { NewTask } from './NewTask';
import { Refused } from './Refused';
import type { ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import { TaskList } from './TaskList';
import { useBoard } from './useBoard';
import { useMoves } from './useMoves';
import css from './TasksPage.module.css';
import boardCss from './Board.module.css';

/** Column names that fit beside each other on a phone. */
const SHORT: Readonly<Record<ColumnName, string>> = { ...COLUMN_WORDS, inProgress: 'Doing', inReview: 'Review' };

const TaskGraph = lazy(() => import('./TaskGraph'));

function BoardSkeleton() {
  const late = useLate();
  return (
    <div className={boardCss.board} aria-busy="true" aria-label="Loading">
      <div className={boardCss.columns} data-done="shut">
        {COLUMNS.slice(0, 4).map((name) => (
          <div key={name} className={boardCss.column}>
            <div className={boardCss.head}>{COLUMN_WORDS[name]}</div>
            {late && [0, 1, 2].map((at) => <div key={at} className={boardCss.skeleton} />)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Returns the address of a task in the current view. */
function useHref(): (number: number) => string {
  const [params] = useSearchParams();
  return (number) => {
    const next = new URLSearchParams(params);
    next.set('task', String(number));
    return `/tasks?${next.toString()}`;
  };
}

export default function TasksPage() {
  const readOnly = useReadOnly();
  const phone = usePhone();
  const [view, setView] = useParam<'board' | 'graph' | 'list'>('view', 'board');
  const [epic, setEpic] = useParam<string>('epic', '');
  const [q, setQ] = useParam<string>('q', '');
  const [task, setTask] = useParam<string>('task', '');
  const [done, setDone] = useParam<'' | 'open'>('done', '');
  const [only, setOnly] = useParam<ColumnName>('column', 'ready');
  const filter = { epic, q: useDeferredValue(q) };
  const { query, loadMore, move } = useBoard(filter);
  const moves = useMoves(move);
  const [making, setMaking] = useState(false);
  const [assigning, setAssigning] = useState<TaskRow | null>(null);
  const href = useHref();
  const selected = /^\d+$/.test(task) ? Number(task) : null;
  const open = useCallback((number: number | null) => setTask(number === null ? '' : String(number)), [setTask]);
  useKeys({ N: () => !readOnly && setMaking(true) });

  const board = query.data;
  const all = board === undefined ? 0 : total(board);
  const filtered = q !== '' || epic !== '';
  const empty = board !== undefined && all === 0 && !filtered;
  const newTask = (
    <Button icon={<Plus size={14} aria-hidden="true" />} hint="N" onClick={() => setMaking(true)}>
      <span className={css.words}>New task</span>
    </Button>
  );
  let main;
  if (board === undefined) {
    main = query.error === null ? <BoardSkeleton /> : <Problem error={query.error} title="The board could not be read" onRetry={() => void query.refetch()} />;
  } else if (all === 0 && filtered) {
    main = (
      <Empty
        title={q === '' ? 'This epic has no tasks yet' : `No task matches “${q}”`}
        action={
          <Button
            onClick={() => {
              setQ('');
              setEpic('');
            }}
          >
            Clear the filter
          </Button>
        }
      >
        Search covers titles, slugs, epics and roles. TAS-12 finds a task, p0 to p4 a priority.
      </Empty>
    );
  } else if (empty) {
    main = (
      <Empty title="No tasks" action={readOnly ? undefined : newTask} commands={['adjutant tasks add "Write the tests"']}>
        Agents add tasks with task-add, and each agent that you start gets one. You can also create one for an agent to claim, or assign it.
      </Empty>
    );
  } else if (view === 'graph') {
    main = (
      <Suspense fallback={<Skeleton rows={10} height={44} />}>
        <TaskGraph filter={filter} selected={selected} href={href} onOpen={open} />
      </Suspense>
    );
  } else if (view === 'list') {
    main = <TaskList filter={filter} total={all} selected={selected} href={href} onOpen={open} />;
  } else {
    main = (
      <Board
        board={board}
        selected={selected}
        readOnly={readOnly}
        doneOpen={done === 'open'}
        only={only}
        onDone={(wanted) => setDone(wanted ? 'open' : '')}
        onOpen={open}
        href={href}
        onMove={moves.moveTo}
        onMore={loadMore}
        menu={(row) => moves.menu(row, { open, assign: setAssigning })}
      />
    );
  }
  return (
    <Page name="Tasks">
      <Epics chosen={epic} onChoose={setEpic} />
      <div className={css.bar}>
        <Segmented
          label="View"
          value={view}
          onChange={setView}
          choices={[
            { value: 'board', label: 'Board', icon: <SquareKanban size={12} aria-hidden="true" /> },
            { value: 'graph', label: 'Graph', icon: <GitFork size={12} aria-hidden="true" /> },
            { value: 'list', label: 'List', icon: <List size={12} aria-hidden="true" /> },
          ]}
        />
        <span className={css.find}>
          <Search label="Filter by epic, role, priority" value={q} onChange={setQ} />
        </span>
        <span className={css.room} />
        {view === 'board' && (
          <span className={css.legend}>
            <Spline size={12} aria-hidden="true" />
            lines: dependencies of the selected task, and tasks that depend on it
          </span>
        )}
        {board?.truncated === true && <span className="small dim">The first 500 matches</span>}
        {!readOnly && !empty && newTask}
      </div>
      {phone && view === 'board' && board !== undefined && all > 0 && (
        <div className={css.bar}>
          <Segmented
            label="Column"
            value={only}
            onChange={setOnly}
            choices={COLUMNS.map((name) => ({ value: name, label: SHORT[name], count: board.columns[name].count }))}
          />
        </div>
      )}
      {moves.refusal !== null && <Refused refusal={moves.refusal} onForce={moves.forceRefused} onClose={moves.clear} />}
      <div className={css.main}>
        {main}
        {selected !== null && (
          <Inspector
            number={selected}
            readOnly={readOnly}
            href={href}
            onOpen={open}
            onAssign={setAssigning}
            onMove={moves.moveTo}
            onCancel={(row) => moves.take(row, cancel(row), 'done')}
          />
        )}
      </div>
      <div className="sr-only" role="status" aria-live="polite">
        {moves.said}
      </div>
      {moves.asking !== null && <MoveDialog asks={moves.asking.asks} onSay={moves.say} onClose={moves.dismiss} />}
      {assigning !== null && <Assign row={assigning} onClose={() => setAssigning(null)} />}
      {making && (
        <NewTask
          epic={epic}
          onClose={() => setMaking(false)}
          onMade={(number) => {
            setMaking(false);
            open(number);
          }}
        />
      )}
    </Page>
  );
}
