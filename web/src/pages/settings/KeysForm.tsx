// Configuration keys of a part, by section.
import { useState } from 'react';
import { Button } from '../../parts/Button';
import { Empty } from '../../parts/Empty';
import { Search } from '../../parts/Search';
import { KeyField } from './KeyField';
import { matching, sectionsOf, type PartId } from './sections';
import type { FileProblem, KeyView } from '../../api/types';
import type { Draft, Typed } from './values';
import css from './Form.module.css';

export interface FormState {
  readonly draft: Draft;
  readonly errors: ReadonlyMap<string, string>;
  readonly problems: readonly FileProblem[];
  readonly readOnly: boolean;
  readonly onType: (key: KeyView, text: Typed) => void;
}

/** Describes the error of a key. */
export function errorOf(key: string, { errors, problems }: Pick<FormState, 'errors' | 'problems'>): string | null {
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
  const [wanted, setWanted] = useState('');
  const sections = sectionsOf(matching(keys, wanted), part);
  return (
    <div className={css.form}>
      {search && (
        <div className={css.search}>
          <Search label="Find a setting" value={wanted} onChange={setWanted} />
        </div>
      )}
      {sections.length === 0 && (
        <Empty title="No setting is called so" action={<Button onClick={() => setWanted('')}>Clear</Button>}>
          No setting matches “{wanted}”.
        </Empty>
      )}
      {sections.map((section) => (
        <fieldset key={section.name} className={css.section}>
          <legend className={section.name === part ? 'sr-only' : undefined}>{section.title}</legend>
          {section.keys.map((view) => (
            <KeyField
              key={view.key}
              view={view}
              typed={form.draft.get(view.key)}
              error={errorOf(view.key, form)}
              readOnly={form.readOnly}
              onType={(text) => form.onType(view, text)}
            />
          ))}
        </fieldset>
      ))}
    </div>
  );
}
