// Permissions: a table of categories and toolsets, and the patterns of a category.
import { Ban, Check, ChevronDown, ChevronRight, Minus } from 'lucide-react';
import { useState } from 'react';
import { useParam } from '../../shell/url';
import { KeysForm, type FormState } from './KeysForm';
import { wordsOf } from './sections';
import type { SettingsView, ToolsetView } from '../../api/types';
import { markOf, sumOf, tableOf, type Column, type Mark } from './permissions';
import css from './PermissionsPart.module.css';

const WORDS: Readonly<Record<Mark, string>> = { allowed: 'allowed', denied: 'denied by a pattern', none: 'not allowed' };

function ToolMark({ mark }: { readonly mark: Mark }) {
  const Icon = { allowed: Check, denied: Ban, none: Minus }[mark];
  return (
    <span className={css.mark} data-mark={mark} title={WORDS[mark]}>
      <Icon size={14} aria-hidden="true" />
      <span className="sr-only">{WORDS[mark]}</span>
    </span>
  );
}

function Rows({ set, columns }: { readonly set: ToolsetView; readonly columns: readonly Column[] }) {
  const [open, setOpen] = useState(false);
  const Arrow = open ? ChevronDown : ChevronRight;
  return (
    <>
      <tr className={css.set}>
        <th scope="row">
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Arrow size={12} aria-hidden="true" />
            {set.name}
          </button>
        </th>
        {columns.map((column) => {
          const { allowed, all } = sumOf(set, column);
          return (
            <td key={column.name} data-mark={allowed === 0 ? 'none' : 'allowed'}>
              {allowed === all ? <ToolMark mark="allowed" /> : allowed === 0 ? <ToolMark mark={sumOf(set, column).denied === all ? 'denied' : 'none'} /> : `${allowed} of ${all}`}
            </td>
          );
        })}
      </tr>
      {open &&
        set.tools.map((tool) => (
          <tr key={tool.name} className={css.tool}>
            <th scope="row" title={`${tool.title} (${tool.name})`}>
              {tool.short}
            </th>
            {columns.map((column) => (
              <td key={column.name}>
                <ToolMark mark={markOf(tool.name, column)} />
              </td>
            ))}
          </tr>
        ))}
    </>
  );
}

export function PermissionsPart({ settings, form }: { readonly settings: SettingsView; readonly form: FormState }) {
  const columns = tableOf(settings.categories);
  const [chosen, choose] = useParam<string>('category', settings.categories[0]?.name ?? '');
  const category = settings.categories.find((one) => one.name === chosen) ?? settings.categories[0];
  const own = settings.config.keys.filter((key) => key.key.startsWith(`categories.${category?.name ?? ''}.`));
  const shared = settings.config.keys.filter((key) => key.key === 'mcp.fullAccessCategories');
  return (
    <div className={css.permissions}>
      <p className="mid">
        Every tool that an agent may use is allowed by its category or its role; a pattern that denies wins. An agent does not see tools that it may not use.
      </p>
      <div className={`scroll ${css.box}`} role="region" aria-label="Tools that each category may use" tabIndex={0}>
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">Toolset</th>
              {columns.map((column) => (
                <th key={column.name} scope="col">
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {settings.toolsets.map((set) => (
              <Rows key={set.name} set={set} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
      {category !== undefined && (
        <section className={css.category} aria-label={`The category ${category.name}`}>
          <label className={css.choose}>
            <span>Category</span>
            <select value={category.name} onChange={(event) => choose(event.target.value)}>
              {settings.categories.map((one) => (
                <option key={one.name} value={one.name}>
                  {wordsOf(one.name)}
                </option>
              ))}
            </select>
          </label>
          <dl className={css.patterns}>
            <div>
              <dt>Allows</dt>
              <dd>{category.allow.length === 0 ? 'nothing' : category.allow.map((pattern) => <code key={pattern}>{pattern}</code>)}</dd>
            </div>
            <div>
              <dt>Denies</dt>
              <dd>{category.deny.length === 0 ? 'nothing' : category.deny.map((pattern) => <code key={pattern}>{pattern}</code>)}</dd>
            </div>
            <div>
              <dt>May start</dt>
              <dd>{category.mayDraft.length === 0 ? 'none' : category.mayDraft.join(', ')}</dd>
            </div>
          </dl>
          <KeysForm keys={[...own, ...shared]} part="permissions" form={form} />
        </section>
      )}
    </div>
  );
}
