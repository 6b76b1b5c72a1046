import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { useKeys } from '../keys';
import { formatCount } from '../format';
import css from './Diff.module.css';
import { DiffLine } from './DiffLine';
import { MAX_OPEN_LINES, buildDiffRows, listDiffFiles, type ChangedFile, type DiffRow, type DiffFile, type DiffView } from './rows';

interface Props {
  readonly patch: string;
  readonly view: DiffView;
  /** Files that the visitor has seen; they are folded. */
  readonly seen?: ReadonlySet<string>;
  readonly onSeen?: (path: string) => void;
  /** Content above the lines of a file. */
  readonly notes?: (path: string) => ReactNode;
  /** All changed files, in case the patch was cut. */
  readonly files?: readonly ChangedFile[];
  readonly label?: string;
}

const ROW_HEIGHTS_PX = { file: 32, note: 48, notice: 32, hunk: 20, line: 20, pair: 20 } as const;
const STATUS_LABELS: Readonly<Record<string, string>> = { added: 'new file', deleted: 'deleted', renamed: 'renamed', copied: 'copied', retyped: 'type changed', unmerged: 'conflict' };

interface FileHeaderProps {
  readonly file: DiffFile;
  readonly open: boolean;
  readonly current: boolean;
  readonly onFold: () => void;
  readonly seen: boolean;
  readonly onSeen: (() => void) | null;
}

function FileHeader({ file, open, current, onFold, seen, onSeen }: FileHeaderProps) {
  const Arrow = open ? ChevronDown : ChevronRight;
  const status = file.binary ? 'binary' : STATUS_LABELS[file.status];
  return (
    <div className={current ? `${css.file} ${css.current}` : css.file}>
      <h3>
        <button type="button" className={css.fold} aria-expanded={open} onClick={onFold} title={file.path}>
          <Arrow size={12} aria-hidden="true" />
          <span className={css.name}>{file.oldPath === null ? file.path : `${file.oldPath} → ${file.path}`}</span>
        </button>
      </h3>
      {status !== undefined && <span className={css.status}>{status}</span>}
      {file.patch === null && <span className={css.status}>too large</span>}
      {!file.binary && (
        <span className={css.counts}>
          <span className="plus">+{formatCount(file.added)}</span> <span className="minus">−{formatCount(file.removed)}</span>
        </span>
      )}
      {onSeen !== null && (
        <label className={css.seen}>
          <input type="checkbox" checked={seen} onChange={onSeen} />
          Seen
        </label>
      )}
    </div>
  );
}

/** Virtualized diff, split or unified. Fills its container and scrolls in it. */
export function Diff({ patch, view, seen, onSeen, notes, files: changedFiles, label = 'Changes' }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const files = useMemo(() => listDiffFiles(patch, changedFiles), [patch, changedFiles]);
  // Files folded or unfolded by the visitor; others follow the default.
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [currentPath, setCurrentPath] = useState<string | null>(null);
  const isOpen = useCallback(
    (file: DiffFile) => folds.get(file.path) ?? (seen?.has(file.path) !== true && file.added + file.removed <= MAX_OPEN_LINES),
    [folds, seen],
  );
  const rows = useMemo(() => buildDiffRows(files, view, isOpen, (path) => Boolean(notes?.(path))), [files, view, isOpen, notes]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (at) => ROW_HEIGHTS_PX[rows[at]?.kind ?? 'line'],
    overscan: 20,
    getItemKey: (at) => getRowKey(rows[at], at, view),
  });
  const toggleFold = (file: DiffFile) => setFolds((before) => new Map(before).set(file.path, !isOpen(file)));
  const findCurrentIndex = () => {
    const named = files.findIndex((file) => file.path === currentPath);
    if (named >= 0) return named;
    const first = rows[virtual.getVirtualItems().find((item) => item.end > (box.current?.scrollTop ?? 0))?.index ?? 0];
    return first === undefined ? 0 : files.indexOf(first.file);
  };
  const goBy = (by: number) => {
    const file = files[Math.min(files.length - 1, Math.max(0, currentPath === null && by > 0 && findCurrentIndex() === 0 ? 0 : findCurrentIndex() + by))];
    if (file === undefined) return;
    setCurrentPath(file.path);
    virtual.scrollToIndex(rows.findIndex((row) => row.kind === 'file' && row.file === file), { align: 'start' });
  };
  useKeys({
    '[': () => goBy(-1),
    ']': () => goBy(1),
    ...(onSeen === undefined
      ? {}
      : {
          v: () => {
            const file = files[findCurrentIndex()];
            if (file === undefined) return;
            setFolds((before) => new Map([...before].filter(([path]) => path !== file.path)));
            onSeen(file.path);
          },
        }),
  });
  const renderRow = (row: DiffRow): ReactNode => {
    switch (row.kind) {
      case 'file': {
        const { file } = row;
        const mark = onSeen === undefined ? null : () => onSeen(file.path);
        return <FileHeader file={file} open={row.open} current={file.path === currentPath} onFold={() => toggleFold(file)} seen={seen?.has(file.path) === true} onSeen={mark} />;
      }
      case 'note':
        return <div className={css.note}>{notes?.(row.file.path)}</div>;
      case 'notice':
        return <p className={css.notice}>{row.text}</p>;
      case 'hunk':
        return <div className={css.hunk}>{row.head}</div>;
      default:
        return <DiffLine row={row} />;
    }
  };
  return (
    // A scrollable region must be focusable.
    <div ref={box} className={css.diff} role="region" aria-label={label} tabIndex={0}>
      <div className={css.all} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            <div key={item.key} ref={virtual.measureElement} data-index={item.index} className={css.row} style={{ transform: `translateY(${item.start}px)` }}>
              {renderRow(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Returns a stable key, so that a row keeps its measured height when files above it fold. */
function getRowKey(row: DiffRow | undefined, at: number, view: DiffView): string {
  if (row === undefined) return String(at);
  const { path } = row.file;
  if (row.kind === 'line') return `${view} ${path} ${row.line.oldNumber ?? ''}:${row.line.newNumber ?? ''}`;
  if (row.kind === 'pair') return `${view} ${path} ${row.left?.oldNumber ?? ''}:${row.right?.newNumber ?? ''}`;
  return `${row.kind} ${path} ${row.kind === 'hunk' ? row.head : row.kind === 'notice' ? row.text : ''}`;
}
