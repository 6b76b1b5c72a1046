// The settings page: every edit is checked before it is saved.
import { ChevronLeft } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Redirect, useParams } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { toast } from '../../parts/toast';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { ChangePane } from './ChangePane';
import { KeysForm, type FormState } from './KeysForm';
import { KeysPart } from './KeysPart';
import { NotificationsPart } from './NotificationsPart';
import { PermissionsPart } from './PermissionsPart';
import { useCheck, useSave, useSettings } from './queries';
import { RolesPart, type RoleDraft } from './RolesPart';
import { leftOf, standingOf } from './saving';
import { isPart, partOf, PARTS, type PartId } from './sections';
import type { SettingsChange, SettingsView } from '../../api/types';
import { typed, wishOf, type Draft } from './values';
import { WebhooksPart } from './WebhooksPart';
import css from './SettingsPage.module.css';

const NONE: Draft = new Map();
const NO_ERRORS: ReadonlyMap<string, string> = new Map();
/** Parts that edit no file. */
const WITHOUT_FILE: readonly PartId[] = ['webhooks', 'keys'];

function Parts({ here, changed }: { readonly here: PartId | null; readonly changed: (part: PartId) => number }) {
  return (
    <nav className={`scroll ${css.parts}`} aria-label="Parts of the settings">
      {PARTS.map((part) => (
        <Link key={part.id} href={`/settings/${part.id}`} aria-current={part.id === here ? 'page' : undefined}>
          <span className="strong">
            {part.name}
            {changed(part.id) > 0 && <span className={css.changed}> {changed(part.id)} changed</span>}
          </span>
          <span className="small dim">{part.about}</span>
        </Link>
      ))}
    </nav>
  );
}

/** Warns before a tab with unsaved changes is closed. */
function useKept(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [dirty]);
}

function Whole({ settings, part }: { readonly settings: SettingsView; readonly part: PartId | null }) {
  const readOnly = useReadOnly();
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(NONE);
  const [role, setRole] = useState<RoleDraft | null>(null);
  const [selected, select] = useParam<string>('role', '');
  const { keys, hash, path, problems: broken } = settings.config;
  const wish = useMemo(() => wishOf(draft, keys), [draft, keys]);
  const isRole = part === 'roles';
  const chosen = selected === '' ? (settings.roles[0]?.name ?? null) : selected;
  const file = settings.roles.find((one) => one.name === (role?.name ?? chosen));
  const change: SettingsChange | null = isRole ? (role === null ? null : { role }) : wish.changes.length === 0 ? null : { changes: wish.changes };
  const was = isRole ? (file?.isOwn === true ? file.hash : null) : hash;
  const check = useCheck(change, was ?? '');
  const save = useSave((saved, kept) => {
    // Text typed while the server was saving is not saved yet.
    setRole((now) => leftOf({ draft: NONE, role: now }, kept, true).role);
    setDraft((now) => leftOf({ draft: now, role: null }, kept, false).draft);
    toast(saved.reloaded.warnings.length === 0 ? 'Saved and in force' : `Saved. Warning: ${saved.reloaded.warnings[0]}`);
  });
  const changes = isRole ? Number(role !== null && role.text !== file?.text) : draft.size;
  const standing = standingOf({ changes, errors: isRole ? NO_ERRORS : wish.errors, busy: save.isPending }, check);
  useKept(draft.size > 0 || role !== null);
  const form: FormState = {
    draft,
    errors: wish.errors,
    problems: isRole ? [] : (check.checked?.problems ?? broken),
    readOnly,
    onType: (key, text) => {
      save.reset();
      setDraft((before) => typed(before, key, text));
    },
  };
  const changed = (id: PartId) => (id === 'roles' ? Number(role !== null) : [...draft.keys()].filter((key) => partOf(key) === id).length);

  const body = () => {
    switch (part) {
      case 'general':
        return <KeysForm keys={keys} part="general" form={form} search />;
      case 'limits':
      case 'budget':
        return <KeysForm key={part} keys={keys} part={part} form={form} />;
      case 'roles':
        return (
          <RolesPart
            roles={settings.roles}
            selected={chosen}
            draft={role}
            problems={check.checked?.problems ?? []}
            readOnly={readOnly}
            onSelect={select}
            onType={(next) => {
              save.reset();
              setRole(next.text === settings.roles.find((one) => one.name === next.name)?.text ? null : next);
            }}
          />
        );
      case 'permissions':
        return <PermissionsPart settings={settings} form={form} />;
      case 'webhooks':
        return <WebhooksPart readOnly={readOnly} />;
      case 'notifications':
        return <NotificationsPart keys={keys} form={form} />;
      case 'keys':
        return <KeysPart />;
      case null:
        return null;
    }
  };
  const name = PARTS.find((one) => one.id === part)?.name ?? '';
  const withFile = part !== null && !WITHOUT_FILE.includes(part);
  return (
    <div className={css.page} data-open={part !== null} data-file={withFile}>
      <Parts here={part} changed={changed} />
      <section className={`scroll ${css.part}`} aria-label={name}>
        <Link href="/settings?all" className={css.back}>
          <ChevronLeft size={14} aria-hidden="true" /> Settings
        </Link>
        <h2>{name}</h2>
        {withFile && !isRole && broken.length > 0 && (
          <Problem error={new Error(broken[0]?.message ?? '')} title={`${path}${broken[0]?.line == null ? '' : `, line ${broken[0].line}`}: the file cannot be used in its current state`} />
        )}
        {body()}
      </section>
      {withFile && (
        <ChangePane
          path={isRole ? (file?.isOwn === true ? file.path : `.adjutant/roles/${role?.name ?? chosen ?? ''}.md`) : path}
          check={check}
          standing={standing}
          changes={changes}
          readOnly={readOnly}
          refusal={save.error}
          onSave={() => {
            const kept = isRole ? { draft: NONE, role } : { draft, role: null };
            if (change !== null) save.mutate({ change, was, form: kept });
          }}
          onDrop={() => {
            save.reset();
            if (isRole) setRole(null);
            else setDraft(NONE);
          }}
          onReread={() => {
            save.reset();
            void client.invalidateQueries({ queryKey: ['settings'] });
          }}
        />
      )}
    </div>
  );
}

export default function SettingsPage() {
  const { part = null } = useParams<{ part?: string }>();
  const settings = useSettings();
  const known = part !== null && isPart(part) ? part : null;
  // On a phone the list of parts is a page of its own, at `?all`.
  if (part !== null && known === null) return <Redirect to="/settings/general" replace />;
  if (part === null && !new URLSearchParams(window.location.search).has('all')) return <Redirect to="/settings/general" replace />;
  return (
    <Page name="Settings">
      {settings.data !== undefined ? (
        <Whole settings={settings.data} part={known} />
      ) : settings.error !== null ? (
        <Problem error={settings.error} title="The settings could not be read" onRetry={() => void settings.refetch()} />
      ) : (
        <div className={css.page} data-open="true">
          <Skeleton rows={8} height={52} />
          <Skeleton rows={10} height={64} />
        </div>
      )}
    </Page>
  );
}
