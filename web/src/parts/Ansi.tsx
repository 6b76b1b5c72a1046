import { memo, useMemo } from 'react';
import { parseTerminal } from './terminal';
import css from './Ansi.module.css';

/** Terminal output with its colours. */
export const Ansi = memo(function Ansi({ text }: { readonly text: string }) {
  const parts = useMemo(() => parseTerminal(text), [text]);
  return parts.map((part, at) => {
    const names = [part.colour, ...part.decorations].map((name) => (name === null ? undefined : css[name]));
    const className = names.filter(Boolean).join(' ');
    return className === '' ? (
      part.text
    ) : (
      <span key={at} className={className}>
        {part.text}
      </span>
    );
  });
});
