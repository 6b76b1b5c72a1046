import { Link2, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { showToast } from '../../parts/toast';
import { InspectorActions } from './InspectorActions';
import { Comments, ContextSection, HistoryList, DependencyLists } from './InspectorLists';
import { TaskFacts } from './TaskFacts';
import { useFitsSidePanel } from '../../parts/media';
import { formatTaskNumber } from './moves';
import type { TaskRow } from '../../api/types';
import { useTask } from './useTask';
import css from './Inspector.module.css';

export interface InspectorProps {
  readonly number: number;
  readonly readOnly: boolean;
  readonly href: (number: number) => string;
  readonly onOpen: (number: number | null) => void;
  readonly onAssign: (row: TaskRow) => void;
  readonly onMove: (row: TaskRow, to: 'ready') => void;
  readonly onCancel: (row: TaskRow) => void;
}

function InspectorBody(props: InspectorProps) {
  const { number, readOnly } = props;
  const query = useTask(number);
  const task = query.data;
  if (task === undefined) {
    if (query.error === null) return <Skeleton rows={9} height={28} />;
    return <Problem error={query.error} title={`${formatTaskNumber(number)} could not be read`} onRetry={() => void query.refetch()} />;
  }
  return (
    <>
      <h2 className={css.title}>{task.title}</h2>
      <TaskFacts task={task} readOnly={readOnly} />
      {task.description !== null && (
        <div className={css.description}>
          <Markdown text={task.description} />
        </div>
      )}
      <DependencyLists task={task} readOnly={readOnly} href={props.href} onOpen={props.onOpen} />
      <InspectorActions task={task} {...props} />
      <HistoryList task={task} />
      <Comments task={task} readOnly={readOnly} />
      <ContextSection task={task} />
    </>
  );
}

/** Panel of the selected task: beside the board if it fits, otherwise a sheet. */
export function Inspector(props: InspectorProps) {
  const { number, href, onOpen } = props;
  const fitsPanel = useFitsSidePanel();
  const copy = () => void navigator.clipboard?.writeText(location.origin + href(number)).then(() => showToast('The link is copied.'));
  const link: ReactNode = <Button variant="quiet" small icon={<Link2 size={14} />} aria-label="Copy link" onClick={copy} />;
  if (!fitsPanel) {
    return (
      <Dialog title={formatTaskNumber(number)} variant="sheet" onClose={() => onOpen(null)}>
        <div className={css.sheet}>
          <InspectorBody key={number} {...props} />
        </div>
      </Dialog>
    );
  }
  return (
    <aside className={`${css.inspector} scroll`} aria-label={`Task ${formatTaskNumber(number)}`}>
      <div className={css.head}>
        <span className={css.number}>{formatTaskNumber(number)}</span>
        <span className="grow" />
        {link}
        <Button variant="quiet" small icon={<X size={14} />} aria-label="Close" onClick={() => onOpen(null)} />
      </div>
      <InspectorBody key={number} {...props} />
    </aside>
  );
}
