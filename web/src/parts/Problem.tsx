import { CircleX } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client';
import { Button } from './Button';
import css from './Problem.module.css';

interface Props {
  readonly error: unknown;
  /** Failed action: "The board could not be read". */
  readonly title?: string;
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}

/** Error with its reason and suggestions, in place of the content. */
export function Problem({ error, title, onRetry, children }: Props) {
  const apiError = error instanceof ApiError ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className={css.problem}>
      <CircleX size={16} aria-hidden="true" />
      <div className={css.words}>
        <p className="strong">{title ?? message}</p>
        {title !== undefined && <p className="mid">{message}</p>}
        {apiError !== null && apiError.suggestions.length > 0 && (
          <ul>
            {apiError.suggestions.map((suggestion) => (
              <li key={suggestion}>{suggestion}</li>
            ))}
          </ul>
        )}
        <div className={css.acts}>
          {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
          {children}
          {apiError !== null && <code className="dim">{apiError.code}</code>}
        </div>
      </div>
    </div>
  );
}
