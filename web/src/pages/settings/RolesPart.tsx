// Roles: editor of the role's file, and its effective settings.
import { CircleX, FilePlus2, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { EmptyState } from '../../parts/EmptyState';
import { Field } from '../../parts/Field';
import { RoleFacts } from './RoleFacts';
import type { FileProblem, RoleView } from '../../api/types';
import css from './RolesPart.module.css';

export interface RoleDraft {
  readonly name: string;
  readonly text: string;
}

interface Props {
  readonly roles: readonly RoleView[];
  readonly selected: string | null;
  readonly draft: RoleDraft | null;
  readonly problems: readonly FileProblem[];
  readonly readOnly: boolean;
  readonly onSelect: (name: string) => void;
  readonly onType: (draft: RoleDraft) => void;
}

/** Template of a new role's file. */
export function buildRoleTemplate(name: string): string {
  return `---\nname: ${name}\ncategory: worker\ndescription: One-line description.\n---\n\nDescribe what an agent in this role does, and how.\n`;
}

function NewRoleDialog({ existingNames, onCreate, onClose }: { readonly existingNames: readonly string[]; readonly onCreate: (name: string) => void; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const isValid = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
  const error = name === '' ? null : existingNames.includes(name) ? 'A role with this name exists. Choose another name.' : isValid ? null : 'Use at most 64 letters, digits, “-”, “_” and “.”, starting with a letter or digit.';
  const footer = (
    <Button variant="primary" disabled={!isValid || error !== null} onClick={() => onCreate(name)}>
      Create
    </Button>
  );
  return (
    <Dialog title="New role" onClose={onClose} footer={footer}>
      <Field label="Name" error={error} help="The file is written when you save it.">
        {(control) => (
          <input
            {...control}
            autoFocus
            value={name}
            maxLength={64}
            spellCheck={false}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && isValid && error === null) onCreate(name);
            }}
          />
        )}
      </Field>
    </Dialog>
  );
}

export function RolesPart({ roles, selected, draft, problems, readOnly, onSelect, onType }: Props) {
  const [isCreating, setIsCreating] = useState(false);
  const role = roles.find((one) => one.name === selected) ?? null;
  const isNew = role === null && draft !== null && draft.name === selected;
  const text = draft !== null && draft.name === selected ? draft.text : (role?.text ?? '');
  const problemsShown = draft !== null && draft.name === selected ? problems : (role?.problems ?? []);
  const names = [...roles.map((one) => one.name), ...(isNew && selected !== null ? [selected] : [])];
  return (
    <div className={css.roles}>
      <div className={css.chooser}>
        <ul aria-label="Roles">
          {names.map((name) => {
            const one = roles.find((view) => view.name === name);
            const hasProblem = (one?.problems.length ?? 0) > 0;
            const hasWarning = (one?.warnings.length ?? 0) > 0;
            return (
              <li key={name}>
                <button type="button" aria-current={name === selected} onClick={() => onSelect(name)}>
                  <span className="cut">{one?.comesTo?.displayName ?? name}</span>
                  <span className="dim small cut">{one === undefined ? 'new' : (one.comesTo?.category ?? 'not used')}</span>
                  {hasProblem && (
                    <span data-state="failed" className={css.mark} title="The file cannot be read">
                      <CircleX size={12} aria-hidden="true" />
                      <span className="sr-only">cannot be read</span>
                    </span>
                  )}
                  {!hasProblem && hasWarning && (
                    <span data-state="limited" className={css.mark} title="Has warnings">
                      <TriangleAlert size={12} aria-hidden="true" />
                      <span className="sr-only">has warnings</span>
                    </span>
                  )}
                </button>
              </li>
            );
          })}
        </ul>
        {!readOnly && (
          <Button small icon={<FilePlus2 size={14} aria-hidden="true" />} onClick={() => setIsCreating(true)}>
            New role
          </Button>
        )}
      </div>
      {selected === null || (role === null && !isNew) ? (
        <EmptyState title="Choose a role" commands={['adjutant init']}>
          A role is a Markdown file in <code>.adjutant/roles</code>: a few lines of YAML, then the prompt.
        </EmptyState>
      ) : (
        <div className={css.role}>
          {role !== null && !role.isOwn && (
            <p className="small mid">
              This is Claude Code’s own role (<code>{role.path}</code>). If you save it here, a file in <code>.adjutant/roles</code> overrides it;
              the original is unchanged.
            </p>
          )}
          <Field
            label={role === null ? `New role ${selected}` : role.path}
            error={problemsShown[0] === undefined ? null : `${problemsShown[0].line === null ? '' : `Line ${problemsShown[0].line}: `}${problemsShown[0].message}${problemsShown[0].hint === null ? '' : ` (${problemsShown[0].hint})`}`}
          >
            {(control) => (
              <textarea
                {...control}
                className={`${control.className} ${css.text}`}
                spellCheck={false}
                readOnly={readOnly}
                value={text}
                rows={22}
                onChange={(event) => onType({ name: selected, text: event.target.value })}
              />
            )}
          </Field>
          {role !== null && role.warnings.length > 0 && (
            <ul className={css.warnings} aria-label="Warnings">
              {role.warnings.map((warning) => (
                <li key={warning.message} className="small">
                  {warning.line !== null && `Line ${warning.line}: `}
                  {warning.message}
                </li>
              ))}
            </ul>
          )}
          {role?.comesTo != null && <RoleFacts role={role.comesTo} />}
        </div>
      )}
      {isCreating && (
        <NewRoleDialog
          existingNames={names}
          onClose={() => setIsCreating(false)}
          onCreate={(name) => {
            setIsCreating(false);
            onType({ name, text: buildRoleTemplate(name) });
            onSelect(name);
          }}
        />
      )}
    </div>
  );
}
