import { memo, useMemo } from 'react';
import { coloured, languageOf, type Piece } from './colours';
import css from './Code.module.css';

/** Pieces of a line in their colours. */
export function Pieces({ pieces }: { readonly pieces: readonly Piece[] }) {
  return pieces.map((piece, at) =>
    piece.colour === null ? (
      piece.text
    ) : (
      <span key={at} className={css[piece.colour]}>
        {piece.text}
      </span>
    ),
  );
}

interface Props {
  readonly text: string;
  /** A language, a file's name or its ending; without one the text is plain. */
  readonly language?: string | null | undefined;
  readonly label?: string;
}

/** Code, or any text that must keep its shape. */
export const Code = memo(function Code({ text, language = null, label }: Props) {
  const lines = useMemo(() => coloured(text, language === null ? null : languageOf(language)), [text, language]);
  return (
    <pre className={css.code} aria-label={label} tabIndex={label === undefined ? undefined : 0} role={label === undefined ? undefined : 'region'}>
      <code>
        {lines.map((line, at) => (
          <span key={at}>
            <Pieces pieces={line} />
            {at < lines.length - 1 && '\n'}
          </span>
        ))}
      </code>
    </pre>
  );
});

/** A value as JSON that can be read. */
export function Json({ value, label }: { readonly value: unknown; readonly label?: string }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'null', [value]);
  return <Code text={text} language="json" {...(label === undefined ? {} : { label })} />;
}
