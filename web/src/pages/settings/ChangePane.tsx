// Preview of the edited file, and the save button.
import { CircleAlert, CircleCheck, CircleX, LoaderCircle } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Diff } from '../../parts/diff/Diff';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { useKeys } from '../../parts/keys';
import type { EditCheck } from './queries';
import type { SaveStatus } from './saving';
import css from './ChangePane.module.css';

interface Props {
  readonly path: string;
  readonly check: EditCheck;
  readonly status: SaveStatus;
  /** Number of unsaved changes. */
  readonly changeCount: number;
  readonly readOnly: boolean;
  /** Error of the last save. */
  readonly saveError: unknown;
  readonly onSave: () => void;
  readonly onDiscard: () => void;
  /** Reloads the file after another client changed it. */
  readonly onReload: () => void;
}

function StatusMark({ status, changeCount }: { readonly status: SaveStatus; readonly changeCount: number }) {
  if (status.canSave) return <CircleCheck size={14} aria-hidden="true" />;
  if (status.reason === 'Checking…' || status.reason === 'Saving…') return <LoaderCircle size={14} aria-hidden="true" />;
  return changeCount === 0 ? null : <CircleX size={14} aria-hidden="true" />;
}

/** Diff of the file, with problems and notes. */
function ChangePreview({ path, check, changeCount }: Pick<Props, 'path' | 'check' | 'changeCount'>) {
  const { checked } = check;
  if (check.error !== null) return <Problem error={check.error} title="The change could not be checked" onRetry={check.retry} />;
  if (changeCount > 0 && checked === null) return <p className={css.pending}>The new content appears here once it can be checked.</p>;
  if (changeCount === 0 || checked === null) {
    return (
      <EmptyState title="No changes" commands={['adjutant config get', 'adjutant reload']}>
        Changes are checked while you type. The lines of <code>{path}</code> that will change appear here before you save. Comments and
        order are kept.
      </EmptyState>
    );
  }
  return (
    <>
      {checked.problems.length > 0 && (
        <ul className={css.problems} aria-label="Problems">
          {checked.problems.map((problem) => (
            <li key={`${problem.key}-${problem.line}-${problem.message}`}>
              <CircleX size={14} aria-hidden="true" />
              <span>
                {problem.key !== null && <code>{problem.key}</code>}
                {problem.key === null && problem.line !== null && <b>Line {problem.line}</b>} {problem.message}
                {problem.hint !== null && <span className="dim"> {problem.hint}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {checked.notes.length > 0 && (
        <ul className={css.notes} aria-label="Notes">
          {checked.notes.map((note) => (
            <li key={note}>
              <CircleAlert size={14} aria-hidden="true" /> {note}
            </li>
          ))}
        </ul>
      )}
      {checked.diff !== '' && <Diff patch={checked.diff} view="unified" label={`Changes of ${path}`} />}
    </>
  );
}

export function ChangePane(props: Props) {
  const { status, changeCount, readOnly, saveError, onSave, onDiscard, onReload } = props;
  const [isSheetOpen, setIsSheetOpen] = useState(false);
  useKeys({
    'mod+s': () => {
      if (status.canSave && !readOnly) onSave();
    },
  });
  let footer: ReactNode = null;
  if (!readOnly) {
    footer = (
      <div className={css.foot}>
        <p className={css.reason} role="status" data-state={status.canSave ? 'succeeded' : 'queued'}>
          <StatusMark status={status} changeCount={changeCount} />
          <span>{status.reason}</span>
        </p>
        <div className={css.buttons}>
          {changeCount > 0 && (
            <Button className={css.show} onClick={() => setIsSheetOpen(true)}>
              Show changes
            </Button>
          )}
          {changeCount > 0 && <Button onClick={onDiscard}>Discard</Button>}
          <Button variant="primary" hint="⌘S" disabled={!status.canSave} title={status.canSave ? undefined : status.reason} onClick={onSave}>
            Save
          </Button>
        </div>
      </div>
    );
  }
  return (
    <aside className={css.pane} aria-label="Preview" data-changes={changeCount > 0}>
      <h2 className={css.title}>Preview</h2>
      <div className={css.body}>
        <ChangePreview {...props} />
      </div>
      {saveError !== null && (
        <Problem error={saveError} title="The settings were not saved">
          <Button onClick={onReload}>Reload the file</Button>
        </Problem>
      )}
      {footer}
      {isSheetOpen && (
        <Dialog title="Preview" variant="sheet" onClose={() => setIsSheetOpen(false)}>
          <div className={css.sheet}>
            <ChangePreview {...props} />
          </div>
        </Dialog>
      )}
    </aside>
  );
}
