import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, callTool, get } from '../../api/client';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { showToast } from '../../parts/toast';
import { parseTaskNames } from './taskNames';
import type { Epics } from '../../api/types';
import css from './NewTaskDialog.module.css';

interface Props {
  /** Preselected epic. */
  readonly epic: string;
  readonly onClose: () => void;
  readonly onCreated: (number: number) => void;
}

/** Dialog that creates a task. The task is unassigned until it is assigned or claimed. */
export function NewTaskDialog({ epic: chosen, onClose, onCreated }: Props) {
  const client = useQueryClient();
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [priority, setPriority] = useState('2');
  const [epic, setEpic] = useState(chosen);
  const [needs, setNeeds] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const epics = useQuery({
    queryKey: ['epics', 'choices'],
    queryFn: ({ signal }) => get<Epics>('/api/epics', { limit: 200 }, signal),
  });
  const getFieldError = (field: string) => (error instanceof ApiError && error.field === field ? error.message : null);
  const create = async () => {
    if (isBusy || title.trim() === '') return;
    setIsBusy(true);
    setError(null);
    try {
      const created = await callTool('mcp__task__create', {
        title: title.trim(),
        priority: Number(priority),
        ...(description.trim() === '' ? {} : { description }),
        ...(epic === '' ? {} : { epicId: epic }),
        ...(needs.trim() === '' ? {} : { dependsOn: parseTaskNames(needs) }),
      });
      void client.invalidateQueries({ queryKey: ['board'] });
      showToast(`${created.number} was created.`);
      onCreated(Number(created.number.replace(/^TAS-/, '')));
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" disabled={isBusy || title.trim() === ''} hint="⌘↵" onClick={() => void create()}>
        Create task
      </Button>
    </>
  );
  const hasFieldError = ['title', 'description', 'dependsOn', 'epicId'].some((field) => getFieldError(field) !== null);
  return (
    <Dialog title="New task" onClose={onClose} footer={footer}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void create();
        }}
      >
        <Field label="Title" help="The task in one line" error={getFieldError('title')}>
          {(control) => <input {...control} autoFocus maxLength={300} value={title} onChange={(event) => setTitle(event.target.value)} />}
        </Field>
        <Field label="Description" help="Everything that an agent needs to know" error={getFieldError('description')}>
          {(control) => <textarea {...control} rows={5} maxLength={100_000} value={description} onChange={(event) => setDescription(event.target.value)} />}
        </Field>
        <div className={css.pair}>
          <Field label="Priority">
            {(control) => (
              <select {...control} value={priority} onChange={(event) => setPriority(event.target.value)}>
                {['0, first', '1', '2, usual', '3', '4, last'].map((label, at) => (
                  <option key={label} value={at}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Epic" error={getFieldError('epicId')}>
            {(control) => (
              <select {...control} value={epic} onChange={(event) => setEpic(event.target.value)}>
                <option value="">none</option>
                {epics.data?.epics.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.title}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <Field label="Depends on" help="Numbers or slugs, separated by commas: TAS-12, TAS-13" error={getFieldError('dependsOn')}>
          {(control) => <input {...control} maxLength={2000} value={needs} onChange={(event) => setNeeds(event.target.value)} />}
        </Field>
        <button type="submit" hidden />
      </form>
      {error !== null && !hasFieldError && <Problem error={error} />}
    </Dialog>
  );
}
