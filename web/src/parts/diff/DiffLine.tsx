import { memo, useMemo } from 'react';
import code from '../Code.module.css';
import css from './Diff.module.css';
import type { PatchLine } from './parse';
import { splitLine, type DiffRow } from './rows';

const KIND_SIGNS = { same: '\u00a0', added: '+', removed: '−' } as const;
const KIND_LABELS = { same: '', added: 'added', removed: 'removed' } as const;

type LineRow = Extract<DiffRow, { kind: 'line' | 'pair' }>;

interface LineTextProps {
  readonly row: LineRow;
  readonly line: PatchLine;
  readonly other: PatchLine | null;
}

function LineText({ row, line, other }: LineTextProps) {
  const parts = useMemo(() => splitLine(row, line, other), [row, line, other]);
  const lineClass = line.kind === 'same' ? css.code : `${css.code} ${css[line.kind]}`;
  return (
    <span className={lineClass} data-sign={KIND_SIGNS[line.kind]}>
      {line.kind !== 'same' && <span className="sr-only">{KIND_LABELS[line.kind]}: </span>}
      {parts.map((part, at) => {
        const className = part.colour === null ? undefined : code[part.colour];
        if (part.isChanged) return <mark key={at} className={className}>{part.text}</mark>;
        return className === undefined ? part.text : <span key={at} className={className}>{part.text}</span>;
      })}
      {line.text === '' && ' '}
    </span>
  );
}

function LineNumber({ of, kind }: { readonly of: number | null; readonly kind: PatchLine['kind'] }) {
  return <span className={kind === 'same' ? css.number : `${css.number} ${css[kind]}`}>{of}</span>;
}

function LineSide({ row, line, other, number }: LineTextProps & { readonly number: number | null }) {
  return (
    <>
      <LineNumber of={number} kind={line.kind} />
      <LineText row={row} line={line} other={other} />
    </>
  );
}

function EmptySide() {
  return (
    <>
      <span className={`${css.number} ${css.none}`} />
      <span className={`${css.code} ${css.none}`} />
    </>
  );
}

/** A line of a diff, split or unified. */
export const DiffLine = memo(function Line({ row }: { readonly row: LineRow }) {
  if (row.kind === 'line') {
    const { line, other } = row;
    return (
      <div className={`${css.grid} ${css.unified}`}>
        <LineNumber of={line.oldNumber} kind={line.kind} />
        <LineNumber of={line.newNumber} kind={line.kind} />
        <LineText row={row} line={line} other={other} />
      </div>
    );
  }
  const { left, right } = row;
  return (
    <div className={`${css.grid} ${css.split}`}>
      {left === null ? <EmptySide /> : <LineSide row={row} line={left} other={left.kind === 'same' ? null : right} number={left.oldNumber} />}
      {right === null ? <EmptySide /> : <LineSide row={row} line={right} other={right.kind === 'same' ? null : left} number={right.newNumber} />}
    </div>
  );
});
