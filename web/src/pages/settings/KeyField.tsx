// Field of one configuration key: control, description and error.
import { RotateCcw } from 'lucide-react';
import { Button } from '../../parts/Button';
import { Field } from '../../parts/Field';
import { getKeyLabel } from './sections';
import type { KeyView } from '../../api/types';
import { chooseControl, isSameValue, formatValue, type TypedText } from './values';
import css from './Form.module.css';

interface Props {
  readonly view: KeyView;
  /** Typed text; undefined if unchanged. */
  readonly typed: TypedText | undefined;
  readonly error: string | null;
  readonly readOnly: boolean;
  readonly onType: (text: TypedText) => void;
}

/** Formats a value briefly, for "Default: 3". */
function formatBriefly(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value) && value.length === 0) return 'none';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 28 ? `${text.slice(0, 27)}…` : text;
}

export function KeyField({ view, typed, error, readOnly, onType }: Props) {
  const kind = chooseControl(view);
  const fromFile = formatValue(view.value, kind);
  const text = typed === undefined ? fromFile : (typed ?? formatValue(view.default, kind));
  const disabled = readOnly || view.decidedBy !== null;
  const isDefault = typed === null || (typed === undefined && isSameValue(view.value, view.default));
  const help = (
    <>
      {view.description} <code title={view.key}>{view.key}</code>
      {kind === 'list' && ' One per line.'}
      {kind === 'json' && ' As JSON.'}
      {view.atStart && ' Takes effect when the server is restarted.'}
      {view.decidedBy !== null && (
        <>
          {' '}
          <strong>
            Set by <code>{view.decidedBy}</code> in the server’s environment.
          </strong>
        </>
      )}
    </>
  );
  return (
    <div className={css.key} data-changed={typed !== undefined} data-kind={kind}>
      <Field label={getKeyLabel(view.key)} help={help} error={error}>
        {(control) => {
          const shared = { ...control, disabled };
          if (kind === 'switch' || kind === 'choice') {
            const choices = kind === 'switch' ? ['true', 'false'] : view.choices;
            return (
              <select {...shared} value={text} onChange={(event) => onType(event.target.value)}>
                {choices.map((choice) => (
                  <option key={choice} value={choice}>
                    {kind === 'switch' ? (choice === 'true' ? 'Yes' : 'No') : choice}
                  </option>
                ))}
              </select>
            );
          }
          if (kind === 'list' || kind === 'json') {
            const rows = Math.min(12, Math.max(2, text.split('\n').length + 1));
            return <textarea {...shared} rows={rows} spellCheck={false} className={`${control.className} ${css.mono}`} value={text} onChange={(event) => onType(event.target.value)} />;
          }
          return (
            <input
              {...shared}
              type="text"
              inputMode={kind === 'number' ? 'decimal' : 'text'}
              spellCheck={false}
              placeholder={view.default === null ? 'none' : ''}
              value={text}
              onChange={(event) => onType(event.target.value)}
            />
          );
        }}
      </Field>
      {!disabled && (
        <div className={css.acts}>
          {typed !== undefined && (
            <Button variant="quiet" small onClick={() => onType(fromFile)}>
              Undo
            </Button>
          )}
          {!isDefault && (
            <Button variant="quiet" small icon={<RotateCcw size={12} aria-hidden="true" />} onClick={() => onType(null)}>
              Default: {formatBriefly(view.default)}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
