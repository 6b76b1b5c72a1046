import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError, get, post } from '../api/client';
import type { CrewRows, Overview, Roles, StartedRun } from '../api/types';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Field } from '../parts/Field';
import { shortenId } from '../parts/format';
import { Problem } from '../parts/Problem';
import { showToast } from '../parts/toast';
import type { StartDefaults } from './overlay';
import { findFormField, buildRunRequest, parseStartFailure, type StartForm } from './start';
import css from './StartAgent.module.css';

/** Time to watch a new agent for a failed start: a missing program is reported at once. */
const START_WATCH_MS = 6000;
const START_POLL_INTERVAL_MS = 200;

/** True if all slots are taken, so that the agent must wait. */
async function areSlotsTaken(): Promise<boolean> {
  const { running } = await get<Overview>('/api/overview');
  return running.used >= running.max;
}

/** Waits until the agent runs, ends or is queued; returns the reason of a failed start. */
async function waitForStart(id: string): Promise<string | null> {
  const deadline = Date.now() + START_WATCH_MS;
  while (Date.now() < deadline) {
    const { rows } = await get<CrewRows>('/api/crew/rows', { ids: id });
    const row = rows[0];
    if (row === undefined || (row.state === 'queued' && (await areSlotsTaken()))) return null;
    if (row.state !== 'starting' && row.state !== 'queued') return parseStartFailure(row.state, row.reason);
    await new Promise((resolve) => setTimeout(resolve, START_POLL_INTERVAL_MS));
  }
  return null;
}

function useRoles() {
  return useQuery({ queryKey: ['roles'], queryFn: ({ signal }) => get<Roles>('/api/roles', {}, signal) });
}

/** Dialog that starts an agent, or resumes an ended one. */
export function StartAgent({ defaults, onClose }: { readonly defaults: StartDefaults; readonly onClose: () => void }) {
  const roles = useRoles();
  const [location, navigate] = useLocation();
  const [form, setForm] = useState<StartForm>({ role: defaults.role ?? '', prompt: defaults.prompt ?? '', task: defaults.task ?? '', model: '', minutes: '', usd: '' });
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const resume = defaults.resume ?? null;
  const updateForm = (change: Partial<StartForm>) => setForm((before) => ({ ...before, ...change }));
  const selectedRole = roles.data?.roles.find((role) => role.name === form.role);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    try {
      const { agentId, role } = await post<StartedRun>('/api/runs', buildRunRequest(form, resume));
      const failure = await waitForStart(agentId);
      if (failure !== null) throw new ApiError('AGENT_NOT_STARTED', failure, 0, ['Run `adjutant doctor` to find what is missing.'], { agentId });
      showToast(`${role} ${shortenId(agentId)} was started`);
      onClose();
      if (location === '/crew') navigate(`/crew?agent=${agentId}`);
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const errorField = findFormField(error);
  const message = error instanceof Error ? error.message : null;
  const getFieldError = (field: keyof StartForm) => (errorField === field ? message : null);
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" type="submit" form="start-agent" disabled={isBusy || form.prompt.trim() === ''}>
        {resume === null ? 'Start agent' : 'Resume'}
      </Button>
    </>
  );
  return (
    <Dialog title={resume === null ? 'Start agent' : `Resume ${shortenId(resume)}`} onClose={onClose} footer={footer}>
      <form id="start-agent" className={css.form} onSubmit={(event) => void submit(event)}>
        {resume === null && (
          <Field label="Role" help={selectedRole?.description ?? 'The role sets the instructions, permissions and kind of the agent. It is optional.'} error={getFieldError('role')}>
            {(control) => (
              <select {...control} value={form.role} onChange={(event) => updateForm({ role: event.target.value })}>
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
        <Field label={resume === null ? 'Instructions' : 'Next instructions'} error={getFieldError('prompt')}>
          {(control) => (
            <textarea
              {...control}
              rows={5}
              required
              autoFocus
              value={form.prompt}
              onChange={(event) => updateForm({ prompt: event.target.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
              }}
            />
          )}
        </Field>
        <div className={css.pair}>
          {resume === null && (
            <Field label="Task" help="Id, number or slug. Empty creates a new task." error={getFieldError('task')}>
              {(control) => <input {...control} value={form.task} placeholder="TAS-12" onChange={(event) => updateForm({ task: event.target.value })} />}
            </Field>
          )}
          <Field label="Model" help="Empty uses the model of the role." error={getFieldError('model')}>
            {(control) => <input {...control} value={form.model} placeholder={selectedRole?.model ?? ''} onChange={(event) => updateForm({ model: event.target.value })} />}
          </Field>
          <Field label="Time limit, minutes" error={getFieldError('minutes')}>
            {(control) => <input {...control} inputMode="decimal" value={form.minutes} onChange={(event) => updateForm({ minutes: event.target.value })} />}
          </Field>
          <Field label="Budget, dollars" help="Includes all agents that it starts" error={getFieldError('usd')}>
            {(control) => <input {...control} inputMode="decimal" value={form.usd} onChange={(event) => updateForm({ usd: event.target.value })} />}
          </Field>
        </div>
        {error !== null && errorField === null && <Problem error={error} title="The agent was not started" />}
      </form>
    </Dialog>
  );
}
