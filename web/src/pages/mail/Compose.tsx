// Dialog that writes mail to an agent.
import { useQuery } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { ApiError, get } from '../../api/client';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { toast } from '../../parts/toast';
import { shortId } from '../../parts/format';
import { useActs } from './queries';
import css from './Compose.module.css';
import type { Agents } from '../../api/types';

/** Live agents that can receive mail. */
function useRecipients() {
  return useQuery({
    queryKey: ['mail', 'recipients'],
    queryFn: async ({ signal }) => (await get<Agents>('/api/agents', { limit: 1000 }, signal)).agents,
  });
}

export function Compose({ to, onClose }: { readonly to: string; readonly onClose: () => void }) {
  const recipients = useRecipients();
  const acts = useActs();
  const [agent, setAgent] = useState(to);
  const [subject, setSubject] = useState('');
  const [body, setBody] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const live = recipients.data ?? [];
  const chosen = agent === '' ? (live[0]?.id ?? '') : agent;
  const ready = chosen !== '' && subject.trim() !== '' && body.trim() !== '' && !busy;
  const send = async () => {
    if (!ready) return;
    setBusy(true);
    setError(null);
    try {
      const note = await acts.send(chosen, subject.trim(), body);
      toast(note ?? `Sent to ${shortId(chosen)}`);
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const wrong = (field: string) => (error instanceof ApiError && error.field === field ? error.message : null);
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" disabled={!ready} icon={<Send size={14} aria-hidden="true" />} hint="⌘↵" onClick={() => void send()}>
        Send
      </Button>
    </>
  );
  return (
    <Dialog title="Write a letter" onClose={onClose} foot={foot}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
        }}
      >
        <Field label="To" error={wrong('toAgentId')} help={live.length === 0 && to === '' ? 'There is no agent to write to. Start one first.' : undefined}>
          {(control) => (
            <select {...control} value={chosen} onChange={(event) => setAgent(event.target.value)}>
              {to !== '' && !live.some((one) => one.id === to) && <option value={to}>{shortId(to)}</option>}
              {live.map((one) => (
                <option key={one.id} value={one.id}>
                  {`${one.role} ${shortId(one.id)}${one.taskSlug === null ? '' : `, ${one.taskSlug}`}`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Subject" error={wrong('subject')}>
          {(control) => <input {...control} type="text" value={subject} maxLength={500} onChange={(event) => setSubject(event.target.value)} />}
        </Field>
        <Field label="Letter" error={wrong('body')} help="Markdown. An agent that works reads it when it suits its work.">
          {(control) => <textarea {...control} rows={8} value={body} maxLength={100_000} onChange={(event) => setBody(event.target.value)} />}
        </Field>
      </form>
      {error !== null && !(error instanceof ApiError && error.field !== null) && <Problem error={error} title="The letter could not be sent" />}
    </Dialog>
  );
}
