import { GitFork, List, Plus, Spline, SquareKanban } from 'lucide-react';
import { lazy, Suspense, useCallback, useDeferredValue, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Button } from '../../parts/Button';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { FilterInput } from '../../parts/FilterInput';
import { SegmentedControl } from '../../parts/SegmentedControl';
import { Skeleton, useDelay } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { AssignDialog } from './AssignDialog';
import { Board } from './Board';
import { countTasks } from './boardState';
import { EpicList } from './EpicList';
import { Inspector } from './Inspector';
import { useIsPhone } from '../../parts/media';
import { MoveDialog } from './MoveDialog';
import { buildCancel, COLUMN_NAMES } from './moves';
import { NewTaskDialog } from './NewTaskDialog';
import { RefusedMove } from './RefusedMove';
import type { ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import { TaskList } from './TaskList';
import { useBoard } from './useBoard';
import { useMoves } from './useMoves';
import css from './TasksPage.module.css';
import boardCss from './Board.module.css';

/** Column names that fit beside each other on a phone. */
const SHORT_COLUMN_NAMES: Readonly<Record<ColumnName, string>> = { ...COLUMN_NAMES, inProgress: 'Doing', inReview: 'Review' };

const TaskGraph = lazy(() => import('./TaskGraph'));

function BoardSkeleton() {
  const isDelayed = useDelay();
  return (
    <div className={boardCss.board} aria-busy="true" aria-label="Loading">
      <div className={boardCss.columns} data-done="shut">
        {COLUMNS.slice(0, 4).map((name) => (
          <div key={name} className={boardCss.column}>
            <div className={boardCss.head}>{COLUMN_NAMES[name]}</div>
            {isDelayed && [0, 1, 2].map((at) => <div key={at} className={boardCss.skeleton} />)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Returns the address of a task in the current view. */
function useTaskHref(): (number: number) => string {
  const [params] = useSearchParams();
  return (number) => {
    const next = new URLSearchParams(params);
    next.set('task', String(number));
    return `/tasks?${next.toString()}`;
  };
}

export default function TasksPage() {
  const readOnly = useReadOnly();
  const isPhone = useIsPhone();
  const [view, setView] = useParam<'board' | 'graph' | 'list'>('view', 'board');
  const [epic, setEpic] = useParam<string>('epic', '');
  const [q, setQ] = useParam<string>('q', '');
  const [task, setTask] = useParam<string>('task', '');
  const [doneColumn, setDoneColumn] = useParam<'' | 'open'>('done', '');
  const [phoneColumn, setPhoneColumn] = useParam<ColumnName>('column', 'ready');
  const filter = { epic, q: useDeferredValue(q) };
  const { query, loadMore, move } = useBoard(filter);
  const moves = useMoves(move);
  const [isCreating, setIsCreating] = useState(false);
  const [assignedRow, setAssignedRow] = useState<TaskRow | null>(null);
  const href = useTaskHref();
  const selected = /^\d+$/.test(task) ? Number(task) : null;
  const openTask = useCallback((number: number | null) => setTask(number === null ? '' : String(number)), [setTask]);
  useKeys({ N: () => !readOnly && setIsCreating(true) });

  const board = query.data;
  const taskCount = board === undefined ? 0 : countTasks(board);
  const isFiltered = q !== '' || epic !== '';
  const isEmpty = board !== undefined && taskCount === 0 && !isFiltered;
  const newTaskButton = (
    <Button icon={<Plus size={14} aria-hidden="true" />} hint="N" onClick={() => setIsCreating(true)}>
      <span className={css.words}>New task</span>
    </Button>
  );
  let content;
  if (board === undefined) {
    content = query.error === null ? <BoardSkeleton /> : <Problem error={query.error} title="The board could not be read" onRetry={() => void query.refetch()} />;
  } else if (taskCount === 0 && isFiltered) {
    content = (
      <EmptyState
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
      </EmptyState>
    );
  } else if (isEmpty) {
    content = (
      <EmptyState title="No tasks" action={readOnly ? undefined : newTaskButton} commands={['adjutant tasks add "Write the tests"']}>
        Agents add tasks with task-add, and each agent that you start gets one. You can also create one for an agent to claim, or assign it.
      </EmptyState>
    );
  } else if (view === 'graph') {
    content = (
      <Suspense fallback={<Skeleton rows={10} height={44} />}>
        <TaskGraph filter={filter} selected={selected} href={href} onOpen={openTask} />
      </Suspense>
    );
  } else if (view === 'list') {
    content = <TaskList filter={filter} total={taskCount} selected={selected} href={href} onOpen={openTask} />;
  } else {
    content = (
      <Board
        board={board}
        selected={selected}
        readOnly={readOnly}
        doneOpen={doneColumn === 'open'}
        phoneColumn={phoneColumn}
        onDone={(isOpen) => setDoneColumn(isOpen ? 'open' : '')}
        onOpen={openTask}
        href={href}
        onMove={moves.moveTo}
        onMore={loadMore}
        menu={(row) => moves.buildMenu(row, { open: openTask, assign: setAssignedRow })}
      />
    );
  }
  return (
    <Page name="Tasks">
      <EpicList chosen={epic} onChoose={setEpic} />
      <div className={css.bar}>
        <SegmentedControl
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
          <FilterInput label="Filter by epic, role, priority" value={q} onChange={setQ} />
        </span>
        <span className={css.room} />
        {view === 'board' && (
          <span className={css.legend}>
            <Spline size={12} aria-hidden="true" />
            lines: dependencies of the selected task, and tasks that depend on it
          </span>
        )}
        {board?.truncated === true && <span className="small dim">The first 500 matches</span>}
        {!readOnly && !isEmpty && newTaskButton}
      </div>
      {isPhone && view === 'board' && board !== undefined && taskCount > 0 && (
        <div className={css.bar}>
          <SegmentedControl
            label="Column"
            value={phoneColumn}
            onChange={setPhoneColumn}
            choices={COLUMNS.map((name) => ({ value: name, label: SHORT_COLUMN_NAMES[name], count: board.columns[name].count }))}
          />
        </div>
      )}
      {moves.refusal !== null && <RefusedMove refusal={moves.refusal} onForce={moves.forceRefused} onClose={moves.clearRefusal} />}
      <div className={css.main}>
        {content}
        {selected !== null && (
          <Inspector
            number={selected}
            readOnly={readOnly}
            href={href}
            onOpen={openTask}
            onAssign={setAssignedRow}
            onMove={moves.moveTo}
            onCancel={(row) => moves.startMove(row, buildCancel(row), 'done')}
          />
        )}
      </div>
      <div className="sr-only" role="status" aria-live="polite">
        {moves.announcement}
      </div>
      {moves.pending !== null && <MoveDialog question={moves.pending.question} onSubmit={moves.submitAnswer} onClose={moves.closeDialog} />}
      {assignedRow !== null && <AssignDialog row={assignedRow} onClose={() => setAssignedRow(null)} />}
      {isCreating && (
        <NewTaskDialog
          epic={epic}
          onClose={() => setIsCreating(false)}
          onCreated={(number) => {
            setIsCreating(false);
            openTask(number);
          }}
        />
      )}
    </Page>
  );
}
