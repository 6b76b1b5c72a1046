import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { useKeys } from '../keys';
import { count } from '../format';
import css from './Diff.module.css';
import { Line } from './Line';
import { MANY_LINES, rowsOf, shownFiles, type KnownFile, type Row, type ShownFile, type View } from './rows';

interface Props {
  readonly patch: string;
  readonly view: View;
  /** Files that the visitor has seen; they are folded. */
  readonly seen?: ReadonlySet<string>;
  readonly onSeen?: (path: string) => void;
  /** Content above the lines of a file. */
  readonly notes?: (path: string) => ReactNode;
  /** All changed files, in case the patch was cut. */
  readonly files?: readonly KnownFile[];
  readonly label?: string;
}

const HEIGHTS = { file: 32, note: 48, word: 32, hunk: 20, line: 20, pair: 20 } as const;
const STATUS: Readonly<Record<string, string>> = { added: 'new file', deleted: 'deleted', renamed: 'renamed', copied: 'copied', retyped: 'another kind', unmerged: 'in conflict' };

interface FileProps {
  readonly file: ShownFile;
  readonly open: boolean;
  readonly here: boolean;
  readonly onFold: () => void;
  readonly seen: boolean;
  readonly onSeen: (() => void) | null;
}

function FileHead({ file, open, here, onFold, seen, onSeen }: FileProps) {
  const Arrow = open ? ChevronDown : ChevronRight;
  const status = file.binary ? 'binary' : STATUS[file.status];
  return (
    <div className={here ? `${css.file} ${css.here}` : css.file}>
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
          <span className="plus">+{count(file.added)}</span> <span className="minus">−{count(file.removed)}</span>
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
export function Diff({ patch, view, seen, onSeen, notes, files: known, label = 'Changes' }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const files = useMemo(() => shownFiles(patch, known), [patch, known]);
  // Files folded or unfolded by the visitor; others follow the default.
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [here, setHere] = useState<string | null>(null);
  const isOpen = useCallback(
    (file: ShownFile) => folds.get(file.path) ?? (seen?.has(file.path) !== true && file.added + file.removed <= MANY_LINES),
    [folds, seen],
  );
  const rows = useMemo(() => rowsOf(files, view, isOpen, (path) => Boolean(notes?.(path))), [files, view, isOpen, notes]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (at) => HEIGHTS[rows[at]?.kind ?? 'line'],
    overscan: 20,
    getItemKey: (at) => keyOf(rows[at], at, view),
  });
  const fold = (file: ShownFile) => setFolds((before) => new Map(before).set(file.path, !isOpen(file)));
  const current = () => {
    const named = files.findIndex((file) => file.path === here);
    if (named >= 0) return named;
    const first = rows[virtual.getVirtualItems().find((item) => item.end > (box.current?.scrollTop ?? 0))?.index ?? 0];
    return first === undefined ? 0 : files.indexOf(first.file);
  };
  const go = (by: number) => {
    const file = files[Math.min(files.length - 1, Math.max(0, here === null && by > 0 && current() === 0 ? 0 : current() + by))];
    if (file === undefined) return;
    setHere(file.path);
    virtual.scrollToIndex(rows.findIndex((row) => row.kind === 'file' && row.file === file), { align: 'start' });
  };
  useKeys({
    '[': () => go(-1),
    ']': () => go(1),
    ...(onSeen === undefined
      ? {}
      : {
          v: () => {
            const file = files[current()];
            if (file === undefined) return;
            setFolds((before) => new Map([...before].filter(([path]) => path !== file.path)));
            onSeen(file.path);
          },
        }),
  });
  const draw = (row: Row): ReactNode => {
    switch (row.kind) {
      case 'file': {
        const { file } = row;
        const mark = onSeen === undefined ? null : () => onSeen(file.path);
        return <FileHead file={file} open={row.open} here={file.path === here} onFold={() => fold(file)} seen={seen?.has(file.path) === true} onSeen={mark} />;
      }
      case 'note':
        return <div className={css.note}>{notes?.(row.file.path)}</div>;
      case 'word':
        return <p className={css.word}>{row.text}</p>;
      case 'hunk':
        return <div className={css.hunk}>{row.head}</div>;
      default:
        return <Line row={row} />;
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
              {draw(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Returns a stable key, so that a row keeps its measured height when files above it fold. */
function keyOf(row: Row | undefined, at: number, view: View): string {
  if (row === undefined) return String(at);
  const { path } = row.file;
  if (row.kind === 'line') return `${view} ${path} ${row.line.old ?? ''}:${row.line.now ?? ''}`;
  if (row.kind === 'pair') return `${view} ${path} ${row.left?.old ?? ''}:${row.right?.now ?? ''}`;
  return `${row.kind} ${path} ${row.kind === 'hunk' ? row.head : row.kind === 'word' ? row.text : ''}`;
}
