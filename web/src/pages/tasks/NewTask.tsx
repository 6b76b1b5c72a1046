import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, callTool, get } from '../../api/client';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { toast } from '../../parts/toast';
import { taskNames } from './names';
import type { Epics } from '../../api/types';
import css from './NewTask.module.css';

interface Props {
  /** Preselected epic. */
  readonly epic: string;
  readonly onClose: () => void;
  readonly onMade: (number: number) => void;
}

/** Dialog that creates a task. The task is unassigned until it is assigned or claimed. */
export function NewTask({ epic: chosen, onClose, onMade }: Props) {
  const client = useQueryClient();
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [priority, setPriority] = useState('2');
  const [epic, setEpic] = useState(chosen);
  const [needs, setNeeds] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const epics = useQuery({
    queryKey: ['epics', 'choices'],
    queryFn: ({ signal }) => get<Epics>('/api/epics', { limit: 200 }, signal),
  });
  const wrong = (field: string) => (error instanceof ApiError && error.field === field ? error.message : null);
  const make = async () => {
    if (busy || title.trim() === '') return;
    setBusy(true);
    setError(null);
    try {
      const made = await callTool('mcp__task__create', {
        title: title.trim(),
        priority: Number(priority),
        ...(description.trim() === '' ? {} : { description }),
        ...(epic === '' ? {} : { epicId: epic }),
        ...(needs.trim() === '' ? {} : { dependsOn: taskNames(needs) }),
      });
      void client.invalidateQueries({ queryKey: ['board'] });
      toast(`${made.number} was created.`);
      onMade(Number(made.number.replace(/^TAS-/, '')));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" disabled={busy || title.trim() === ''} hint="⌘↵" onClick={() => void make()}>
        Create task
      </Button>
    </>
  );
  const known = ['title', 'description', 'dependsOn', 'epicId'].some((field) => wrong(field) !== null);
  return (
    <Dialog title="New task" onClose={onClose} foot={foot}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void make();
        }}
      >
        <Field label="Title" help="What is to be done, in a line" error={wrong('title')}>
          {(control) => <input {...control} autoFocus maxLength={300} value={title} onChange={(event) => setTitle(event.target.value)} />}
        </Field>
        <Field label="Description" help="Everything that an agent needs to do it" error={wrong('description')}>
          {(control) => <textarea {...control} rows={5} maxLength={100_000} value={description} onChange={(event) => setDescription(event.target.value)} />}
        </Field>
        <div className={css.pair}>
          <Field label="Priority">
            {(control) => (
              <select {...control} value={priority} onChange={(event) => setPriority(event.target.value)}>
                {['0, first', '1', '2, usual', '3', '4, last'].map((words, at) => (
                  <option key={words} value={at}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Epic" error={wrong('epicId')}>
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
        <Field label="Waits for" help="Numbers or slugs with commas: TAS-12, TAS-13" error={wrong('dependsOn')}>
          {(control) => <input {...control} maxLength={2000} value={needs} onChange={(event) => setNeeds(event.target.value)} />}
        </Field>
        <button type="submit" hidden />
      </form>
      {error !== null && !known && <Problem error={error} />}
    </Dialog>
  );
}
