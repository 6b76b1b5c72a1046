import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError, get, post } from '../api/client';
import type { CrewRows, Overview, Roles, StartedRun } from '../api/types';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Field } from '../parts/Field';
import { shortId } from '../parts/format';
import { Problem } from '../parts/Problem';
import { toast } from '../parts/toast';
import type { StartWith } from './open';
import { fieldOf, runOf, unstarted, type StartForm } from './start';
import css from './StartAgent.module.css';

/** Time to watch a new agent for a failed start: a missing program is reported at once. */
const PATIENCE = 6000;
const PAUSE = 200;

/** True if all slots are taken, so that the agent must wait. */
async function noPlace(): Promise<boolean> {
  const { running } = await get<Overview>('/api/overview');
  return running.used >= running.max;
}

/** Waits until the agent runs, ends or is queued; returns the reason of a failed start. */
async function whyNot(id: string): Promise<string | null> {
  const until = Date.now() + PATIENCE;
  while (Date.now() < until) {
    const { rows } = await get<CrewRows>('/api/crew/rows', { ids: id });
    const row = rows[0];
    if (row === undefined || (row.state === 'queued' && (await noPlace()))) return null;
    if (row.state !== 'starting' && row.state !== 'queued') return unstarted(row.state, row.reason);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return null;
}

function useRoles() {
  return useQuery({ queryKey: ['roles'], queryFn: ({ signal }) => get<Roles>('/api/roles', {}, signal) });
}

/** Dialog that starts an agent, or resumes an ended one. */
export function StartAgent({ start, onClose }: { readonly start: StartWith; readonly onClose: () => void }) {
  const roles = useRoles();
  const [location, go] = useLocation();
  const [form, setForm] = useState<StartForm>({ role: start.role ?? '', prompt: start.prompt ?? '', task: start.task ?? '', model: '', minutes: '', usd: '' });
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const resume = start.resume ?? null;
  const set = (change: Partial<StartForm>) => setForm((before) => ({ ...before, ...change }));
  const chosen = roles.data?.roles.find((role) => role.name === form.role);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const { agentId, role } = await post<StartedRun>('/api/runs', runOf(form, resume));
      const why = await whyNot(agentId);
      if (why !== null) throw new ApiError('NOT_STARTED', why, 0, ['Run `adjutant doctor` to find what is missing.'], { agentId });
      toast(`${role} ${shortId(agentId)} was started`);
      onClose();
      if (location === '/crew') go(`/crew?agent=${agentId}`);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const wrong = fieldOf(error);
  const message = error instanceof Error ? error.message : null;
  const of = (field: keyof StartForm) => (wrong === field ? message : null);
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" type="submit" form="start-agent" disabled={busy || form.prompt.trim() === ''}>
        {resume === null ? 'Start agent' : 'Resume'}
      </Button>
    </>
  );
  return (
    <Dialog title={resume === null ? 'Start agent' : `Resume ${shortId(resume)}`} onClose={onClose} foot={foot}>
      <form id="start-agent" className={css.form} onSubmit={(event) => void submit(event)}>
        {resume === null && (
          <Field label="Role" help={chosen?.description ?? 'The role sets the instructions, permissions and kind of the agent. It is optional.'} error={of('role')}>
            {(control) => (
              <select {...control} value={form.role} onChange={(event) => set({ role: event.target.value })}>
                <option value="">No role</option>
                {roles.data?.roles.map((role) => (
                  <option key={role.name} value={role.name}>
                    {role.displayName ?? role.name} ({role.kind}
                    {role.model === null ? '' : `, ${role.model}`})
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label={resume === null ? 'Instructions' : 'Next instructions'} error={of('prompt')}>
          {(control) => (
            <textarea
              {...control}
              rows={5}
              required
              autoFocus
              value={form.prompt}
              onChange={(event) => set({ prompt: event.target.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
              }}
            />
          )}
        </Field>
        <div className={css.pair}>
          {resume === null && (
            <Field label="Task" help="Its id, number or slug; a new one where empty" error={of('task')}>
              {(control) => <input {...control} value={form.task} placeholder="TAS-12" onChange={(event) => set({ task: event.target.value })} />}
            </Field>
          )}
          <Field label="Model" help="As the role says where empty" error={of('model')}>
            {(control) => <input {...control} value={form.model} placeholder={chosen?.model ?? ''} onChange={(event) => set({ model: event.target.value })} />}
          </Field>
          <Field label="Time limit, minutes" error={of('minutes')}>
            {(control) => <input {...control} inputMode="decimal" value={form.minutes} onChange={(event) => set({ minutes: event.target.value })} />}
          </Field>
          <Field label="Budget, dollars" help="For it and all that it starts" error={of('usd')}>
            {(control) => <input {...control} inputMode="decimal" value={form.usd} onChange={(event) => set({ usd: event.target.value })} />}
          </Field>
        </div>
        {error !== null && wrong === null && <Problem error={error} title="The agent was not started" />}
      </form>
    </Dialog>
  );
}
