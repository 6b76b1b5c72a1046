// Permissions: a table of categories and toolsets, and the patterns of a category.
import { Ban, Check, ChevronDown, ChevronRight, Minus } from 'lucide-react';
import { useState } from 'react';
import { useParam } from '../../shell/url';
import { KeysForm, type FormState } from './KeysForm';
import { humanizeName } from './sections';
import type { SettingsView, ToolsetView } from '../../api/types';
import { getMark, countMarks, buildColumns, type PermissionColumn, type PermissionMark } from './permissions';
import css from './PermissionsPart.module.css';

const MARK_LABELS: Readonly<Record<PermissionMark, string>> = { allowed: 'allowed', denied: 'denied by a pattern', none: 'not allowed' };

function ToolMark({ mark }: { readonly mark: PermissionMark }) {
  const Icon = { allowed: Check, denied: Ban, none: Minus }[mark];
  return (
    <span className={css.mark} data-mark={mark} title={MARK_LABELS[mark]}>
      <Icon size={14} aria-hidden="true" />
      <span className="sr-only">{MARK_LABELS[mark]}</span>
    </span>
  );
}

function ToolsetRows({ set, columns }: { readonly set: ToolsetView; readonly columns: readonly PermissionColumn[] }) {
  const [isOpen, setIsOpen] = useState(false);
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <>
      <tr className={css.set}>
        <th scope="row">
          <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            <Arrow size={12} aria-hidden="true" />
            {set.name}
          </button>
        </th>
        {columns.map((column) => {
          const { allowed, all } = countMarks(set, column);
          return (
            <td key={column.name} data-mark={allowed === 0 ? 'none' : 'allowed'}>
              {allowed === all ? <ToolMark mark="allowed" /> : allowed === 0 ? <ToolMark mark={countMarks(set, column).denied === all ? 'denied' : 'none'} /> : `${allowed} of ${all}`}
            </td>
          );
        })}
      </tr>
      {isOpen &&
        set.tools.map((tool) => (
          <tr key={tool.name} className={css.tool}>
            <th scope="row" title={`${tool.title} (${tool.name})`}>
              {tool.short}
            </th>
            {columns.map((column) => (
              <td key={column.name}>
                <ToolMark mark={getMark(tool.name, column)} />
              </td>
            ))}
          </tr>
        ))}
    </>
  );
}

export function PermissionsPart({ settings, form }: { readonly settings: SettingsView; readonly form: FormState }) {
  const columns = buildColumns(settings.categories);
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
              <ToolsetRows key={set.name} set={set} columns={columns} />
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
                  {humanizeName(one.name)}
                </option>
              ))}
            </select>
          </label>
          <dl className={css.patterns}>
            <div>
              <dt>Allows</dt>
              <dd>{category.allow.length === 0 ? 'none' : category.allow.map((pattern) => <code key={pattern}>{pattern}</code>)}</dd>
            </div>
            <div>
              <dt>Denies</dt>
              <dd>{category.deny.length === 0 ? 'none' : category.deny.map((pattern) => <code key={pattern}>{pattern}</code>)}</dd>
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
