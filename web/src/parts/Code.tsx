import { memo, useMemo } from 'react';
import { highlight, detectLanguage, type HighlightedPart } from './highlight';
import css from './Code.module.css';

/** One line of highlighted code. */
export function HighlightedLine({ parts }: { readonly parts: readonly HighlightedPart[] }) {
  return parts.map((part, at) =>
    part.colour === null ? (
      part.text
    ) : (
      <span key={at} className={css[part.colour]}>
        {part.text}
      </span>
    ),
  );
}

interface Props {
  readonly text: string;
  /** Language, file name or extension; plain text if absent. */
  readonly language?: string | null | undefined;
  readonly label?: string;
}

/** Highlighted code or preformatted text. */
export const Code = memo(function Code({ text, language = null, label }: Props) {
  const lines = useMemo(() => highlight(text, language === null ? null : detectLanguage(language)), [text, language]);
  return (
    <pre className={css.code} aria-label={label} tabIndex={label === undefined ? undefined : 0} role={label === undefined ? undefined : 'region'}>
      <code>
        {lines.map((line, index) => (
          <span key={index}>
            <HighlightedLine parts={line} />
            {index < lines.length - 1 && '\n'}
          </span>
        ))}
      </code>
    </pre>
  );
});

/** Formatted JSON of a value. */
export function Json({ value, label }: { readonly value: unknown; readonly label?: string }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'null', [value]);
  return <Code text={text} language="json" {...(label === undefined ? {} : { label })} />;
}
