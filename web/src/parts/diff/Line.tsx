import { memo, useMemo } from 'react';
import code from '../Code.module.css';
import css from './Diff.module.css';
import type { PatchLine } from './parse';
import { piecesOf, type Row } from './rows';

const SIGNS = { same: '\u00a0', added: '+', removed: '−' } as const;
const WORDS = { same: '', added: 'added', removed: 'removed' } as const;

type LineRow = Extract<Row, { kind: 'line' | 'pair' }>;

interface TextProps {
  readonly row: LineRow;
  readonly line: PatchLine;
  readonly other: PatchLine | null;
}

function Text({ row, line, other }: TextProps) {
  const pieces = useMemo(() => piecesOf(row, line, other), [row, line, other]);
  const look = line.kind === 'same' ? css.code : `${css.code} ${css[line.kind]}`;
  return (
    <span className={look} data-sign={SIGNS[line.kind]}>
      {line.kind !== 'same' && <span className="sr-only">{WORDS[line.kind]}: </span>}
      {pieces.map((piece, at) => {
        const className = piece.colour === null ? undefined : code[piece.colour];
        if (piece.marked) return <mark key={at} className={className}>{piece.text}</mark>;
        return className === undefined ? piece.text : <span key={at} className={className}>{piece.text}</span>;
      })}
      {line.text === '' && ' '}
    </span>
  );
}

function Number({ of, kind }: { readonly of: number | null; readonly kind: PatchLine['kind'] }) {
  return <span className={kind === 'same' ? css.number : `${css.number} ${css[kind]}`}>{of}</span>;
}

function Side({ row, line, other, number }: TextProps & { readonly number: number | null }) {
  return (
    <>
      <Number of={number} kind={line.kind} />
      <Text row={row} line={line} other={other} />
    </>
  );
}

function NoSide() {
  return (
    <>
      <span className={`${css.number} ${css.none}`} />
      <span className={`${css.code} ${css.none}`} />
    </>
  );
}

/** A line of a diff, split or unified. */
export const Line = memo(function Line({ row }: { readonly row: LineRow }) {
  if (row.kind === 'line') {
    const { line, other } = row;
    return (
      <div className={`${css.grid} ${css.unified}`}>
        <Number of={line.old} kind={line.kind} />
        <Number of={line.now} kind={line.kind} />
        <Text row={row} line={line} other={other} />
      </div>
    );
  }
  const { left, right } = row;
  return (
    <div className={`${css.grid} ${css.split}`}>
      {left === null ? <NoSide /> : <Side row={row} line={left} other={left.kind === 'same' ? null : right} number={left.old} />}
      {right === null ? <NoSide /> : <Side row={row} line={right} other={right.kind === 'same' ? null : left} number={right.now} />}
    </div>
  );
});
