// Preview of the edited file, and the save button.
import { CircleAlert, CircleCheck, CircleX, LoaderCircle } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Diff } from '../../parts/diff/Diff';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { useKeys } from '../../parts/keys';
import type { Check } from './queries';
import type { Standing } from './saving';
import css from './ChangePane.module.css';

interface Props {
  readonly path: string;
  readonly check: Check;
  readonly standing: Standing;
  /** Number of unsaved changes. */
  readonly changes: number;
  readonly readOnly: boolean;
  /** Error of the last save. */
  readonly refusal: unknown;
  readonly onSave: () => void;
  readonly onDrop: () => void;
  /** Reloads the file after another client changed it. */
  readonly onReread: () => void;
}

function Mark({ standing, changes }: { readonly standing: Standing; readonly changes: number }) {
  if (standing.can) return <CircleCheck size={14} aria-hidden="true" />;
  if (standing.reason === 'Checking…' || standing.reason === 'Saving…') return <LoaderCircle size={14} aria-hidden="true" />;
  return changes === 0 ? null : <CircleX size={14} aria-hidden="true" />;
}

/** Diff of the file, with problems and notes. */
function Change({ path, check, changes }: Pick<Props, 'path' | 'check' | 'changes'>) {
  const { checked } = check;
  if (check.error !== null) return <Problem error={check.error} title="The change could not be checked" onRetry={check.again} />;
  if (changes > 0 && checked === null) return <p className={css.later}>The new content appears here once it can be checked.</p>;
  if (changes === 0 || checked === null) {
    return (
      <Empty title="No changes" commands={['adjutant config get', 'adjutant reload']}>
        Changes are checked while you type. The lines of <code>{path}</code> that will change appear here before you save. Comments and
        order are kept.
      </Empty>
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
        <ul className={css.notes} aria-label="To know">
          {checked.notes.map((note) => (
            <li key={note}>
              <CircleAlert size={14} aria-hidden="true" /> {note}
            </li>
          ))}
        </ul>
      )}
      {checked.diff !== '' && <Diff patch={checked.diff} view="unified" label={`What changes in ${path}`} />}
    </>
  );
}

export function ChangePane(props: Props) {
  const { standing, changes, readOnly, refusal, onSave, onDrop, onReread } = props;
  const [open, setOpen] = useState(false);
  useKeys({
    'mod+s': () => {
      if (standing.can && !readOnly) onSave();
    },
  });
  let acts: ReactNode = null;
  if (!readOnly) {
    acts = (
      <div className={css.foot}>
        <p className={css.reason} role="status" data-state={standing.can ? 'succeeded' : 'queued'}>
          <Mark standing={standing} changes={changes} />
          <span>{standing.reason}</span>
        </p>
        <div className={css.buttons}>
          {changes > 0 && (
            <Button className={css.show} onClick={() => setOpen(true)}>
              What changes
            </Button>
          )}
          {changes > 0 && <Button onClick={onDrop}>Drop</Button>}
          <Button look="primary" hint="⌘S" disabled={!standing.can} title={standing.can ? undefined : standing.reason} onClick={onSave}>
            Save
          </Button>
        </div>
      </div>
    );
  }
  return (
    <aside className={css.pane} aria-label="Preview" data-changes={changes > 0}>
      <h2 className={css.title}>Preview</h2>
      <div className={css.body}>
        <Change {...props} />
      </div>
      {refusal !== null && (
        <Problem error={refusal} title="It was not saved">
          <Button onClick={onReread}>Read the file again</Button>
        </Problem>
      )}
      {acts}
      {open && (
        <Dialog title="Preview" form="sheet" onClose={() => setOpen(false)}>
          <div className={css.sheet}>
            <Change {...props} />
          </div>
        </Dialog>
      )}
    </aside>
  );
}
