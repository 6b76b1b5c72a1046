// Configuration keys of a part, by section.
import { useState } from 'react';
import { Button } from '../../parts/Button';
import { EmptyState } from '../../parts/EmptyState';
import { FilterInput } from '../../parts/FilterInput';
import { KeyField } from './KeyField';
import { filterKeys, groupSections, type PartId } from './sections';
import type { FileProblem, KeyView } from '../../api/types';
import type { KeyDraft, TypedText } from './values';
import css from './Form.module.css';

export interface FormState {
  readonly draft: KeyDraft;
  readonly errors: ReadonlyMap<string, string>;
  readonly problems: readonly FileProblem[];
  readonly readOnly: boolean;
  readonly onType: (key: KeyView, text: TypedText) => void;
}

/** Describes the error of a key. */
export function describeKeyError(key: string, { errors, problems }: Pick<FormState, 'errors' | 'problems'>): string | null {
  const problem = problems.find((one) => one.key === key);
  const hint = problem?.hint == null ? '' : ` (${problem.hint})`;
  return errors.get(key) ?? (problem === undefined ? null : `${problem.message}${hint}`);
}

interface Props {
  readonly keys: readonly KeyView[];
  readonly part: PartId;
  readonly form: FormState;
  /** True for a long list that needs a search field. */
  readonly search?: boolean;
}

export function KeysForm({ keys, part, form, search = false }: Props) {
  const [query, setQuery] = useState('');
  const sections = groupSections(filterKeys(keys, query), part);
  return (
    <div className={css.form}>
      {search && (
        <div className={css.search}>
          <FilterInput label="Find a setting" value={query} onChange={setQuery} />
        </div>
      )}
      {sections.length === 0 && (
        <EmptyState title="No matching setting" action={<Button onClick={() => setQuery('')}>Clear the filter</Button>}>
          No setting matches “{query}”.
        </EmptyState>
      )}
      {sections.map((section) => (
        <fieldset key={section.name} className={css.section}>
          <legend className={section.name === part ? 'sr-only' : undefined}>{section.title}</legend>
          {section.keys.map((view) => (
            <KeyField
              key={view.key}
              view={view}
              typed={form.draft.get(view.key)}
              error={describeKeyError(view.key, form)}
              readOnly={form.readOnly}
              onType={(text) => form.onType(view, text)}
            />
          ))}
        </fieldset>
      ))}
    </div>
  );
}
