import { memo, useMemo } from 'react';
import { shades } from './terminal';
import css from './Ansi.module.css';

/** Terminal output with its colours. */
export const Ansi = memo(function Ansi({ text }: { readonly text: string }) {
  const pieces = useMemo(() => shades(text), [text]);
  return pieces.map((piece, at) => {
    const names = [piece.colour, ...piece.marks].map((name) => (name === null ? undefined : css[name]));
    const className = names.filter(Boolean).join(' ');
    return className === '' ? (
      piece.text
    ) : (
      <span key={at} className={className}>
        {piece.text}
      </span>
    );
  });
});
