// The settings page: every edit is checked before it is saved.
import { ChevronLeft } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Redirect, useParams } from 'wouter';
import { useReadOnly } from '../../api/overview';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { showToast } from '../../parts/toast';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { ChangePane } from './ChangePane';
import { KeysForm, type FormState } from './KeysForm';
import { KeyboardPart } from './KeyboardPart';
import { NotificationsPart } from './NotificationsPart';
import { PermissionsPart } from './PermissionsPart';
import { useEditCheck, useSave, useSettings } from './queries';
import { RolesPart, type RoleDraft } from './RolesPart';
import { ServersPart } from './ServersPart';
import { dropSaved, getSaveStatus } from './saving';
import { isPart, findPart, PARTS, type PartId } from './sections';
import type { SettingsEdit, SettingsView } from '../../api/types';
import { withTypedText, buildChanges, type KeyDraft } from './values';
import { WebhooksPart } from './WebhooksPart';
import css from './SettingsPage.module.css';

const EMPTY_DRAFT: KeyDraft = new Map();
const NO_ERRORS: ReadonlyMap<string, string> = new Map();
/** Parts that edit no file. */
const PARTS_WITHOUT_FILE: readonly PartId[] = ['webhooks', 'servers', 'keys'];

function PartsNav({ currentPart, countChanges }: { readonly currentPart: PartId | null; readonly countChanges: (part: PartId) => number }) {
  return (
    <nav className={`scroll ${css.parts}`} aria-label="Parts of the settings">
      {PARTS.map((part) => (
        <Link key={part.id} href={`/settings/${part.id}`} aria-current={part.id === currentPart ? 'page' : undefined}>
          <span className="strong">
            {part.name}
            {countChanges(part.id) > 0 && <span className={css.changed}> {countChanges(part.id)} changed</span>}
          </span>
          <span className="small dim">{part.about}</span>
        </Link>
      ))}
    </nav>
  );
}

/** Warns before a tab with unsaved changes is closed. */
function useUnsavedWarning(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [dirty]);
}

function LoadedSettings({ settings, part }: { readonly settings: SettingsView; readonly part: PartId | null }) {
  const readOnly = useReadOnly();
  const client = useQueryClient();
  const [draft, setDraft] = useState<KeyDraft>(EMPTY_DRAFT);
  const [role, setRole] = useState<RoleDraft | null>(null);
  const [selected, select] = useParam<string>('role', '');
  const { keys, hash, path, problems: fileProblems } = settings.config;
  const requested = useMemo(() => buildChanges(draft, keys), [draft, keys]);
  const isRole = part === 'roles';
  const selectedRole = selected === '' ? (settings.roles[0]?.name ?? null) : selected;
  const file = settings.roles.find((one) => one.name === (role?.name ?? selectedRole));
  const edit: SettingsEdit | null = isRole ? (role === null ? null : { role }) : requested.changes.length === 0 ? null : { changes: requested.changes };
  const baseHash = isRole ? (file?.isOwn === true ? file.hash : null) : hash;
  const check = useEditCheck(edit, baseHash ?? '');
  const save = useSave((saved, savedForm) => {
    // Text typed while the server was saving is not saved yet.
    setRole((now) => dropSaved({ draft: EMPTY_DRAFT, role: now }, savedForm, true).role);
    setDraft((now) => dropSaved({ draft: now, role: null }, savedForm, false).draft);
    showToast(saved.reloaded.warnings.length === 0 ? 'Saved and applied' : `Saved. Warning: ${saved.reloaded.warnings[0]}`);
  });
  const changes = isRole ? Number(role !== null && role.text !== file?.text) : draft.size;
  const status = getSaveStatus({ changeCount: changes, errors: isRole ? NO_ERRORS : requested.errors, isSaving: save.isPending }, check);
  useUnsavedWarning(draft.size > 0 || role !== null);
  const form: FormState = {
    draft,
    errors: requested.errors,
    problems: isRole ? [] : (check.checked?.problems ?? fileProblems),
    readOnly,
    onType: (key, text) => {
      save.reset();
      setDraft((before) => withTypedText(before, key, text));
    },
  };
  const countChanges = (id: PartId) => (id === 'roles' ? Number(role !== null) : [...draft.keys()].filter((key) => findPart(key) === id).length);

  const renderPart = () => {
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
            selected={selectedRole}
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
      case 'servers':
        return <ServersPart />;
      case 'keys':
        return <KeyboardPart />;
      case null:
        return null;
    }
  };
  const name = PARTS.find((one) => one.id === part)?.name ?? '';
  const editsFile = part !== null && !PARTS_WITHOUT_FILE.includes(part);
  return (
    <div className={css.page} data-open={part !== null} data-file={editsFile}>
      <PartsNav currentPart={part} countChanges={countChanges} />
      <section className={`scroll ${css.part}`} aria-label={name}>
        <Link href="/settings?all" className={css.back}>
          <ChevronLeft size={14} aria-hidden="true" /> Settings
        </Link>
        <h2>{name}</h2>
        {editsFile && !isRole && fileProblems.length > 0 && (
          <Problem error={new Error(fileProblems[0]?.message ?? '')} title={`${path}${fileProblems[0]?.line == null ? '' : `, line ${fileProblems[0].line}`}: the configuration is invalid`} />
        )}
        {renderPart()}
      </section>
      {editsFile && (
        <ChangePane
          path={isRole ? (file?.isOwn === true ? file.path : `.adjutant/roles/${role?.name ?? selectedRole ?? ''}.md`) : path}
          check={check}
          status={status}
          changeCount={changes}
          readOnly={readOnly}
          saveError={save.error}
          onSave={() => {
            const savedForm = isRole ? { draft: EMPTY_DRAFT, role } : { draft, role: null };
            if (edit !== null) save.mutate({ edit, baseHash, form: savedForm });
          }}
          onDiscard={() => {
            save.reset();
            if (isRole) setRole(null);
            else setDraft(EMPTY_DRAFT);
          }}
          onReload={() => {
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
  const knownPart = part !== null && isPart(part) ? part : null;
  // On a phone the list of parts is a page of its own, at `?all`.
  if (part !== null && knownPart === null) return <Redirect to="/settings/general" replace />;
  if (part === null && !new URLSearchParams(window.location.search).has('all')) return <Redirect to="/settings/general" replace />;
  return (
    <Page name="Settings">
      {settings.data !== undefined ? (
        <LoadedSettings settings={settings.data} part={knownPart} />
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
