// Dialog that writes mail to an agent.
import { useQuery } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { ApiError, get } from '../../api/client';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import { showToast } from '../../parts/toast';
import { shortenId } from '../../parts/format';
import { useMailActions } from './queries';
import css from './ComposeDialog.module.css';
import type { Agents } from '../../api/types';

/** Live agents that can receive mail. */
function useRecipients() {
  return useQuery({
    queryKey: ['mail', 'recipients'],
    queryFn: async ({ signal }) => (await get<Agents>('/api/agents', { limit: 1000 }, signal)).agents,
  });
}

export function ComposeDialog({ to, onClose }: { readonly to: string; readonly onClose: () => void }) {
  const recipients = useRecipients();
  const actions = useMailActions();
  const [agent, setAgent] = useState(to);
  const [subject, setSubject] = useState('');
  const [body, setBody] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const live = recipients.data ?? [];
  const recipient = agent === '' ? (live[0]?.id ?? '') : agent;
  const ready = recipient !== '' && subject.trim() !== '' && body.trim() !== '' && !isBusy;
  const send = async () => {
    if (!ready) return;
    setIsBusy(true);
    setError(null);
    try {
      const note = await actions.send(recipient, subject.trim(), body);
      showToast(note ?? `Sent to ${shortenId(recipient)}`);
      onClose();
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const getFieldError = (field: string) => (error instanceof ApiError && error.field === field ? error.message : null);
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" disabled={!ready} icon={<Send size={14} aria-hidden="true" />} hint="⌘↵" onClick={() => void send()}>
        Send
      </Button>
    </>
  );
  return (
    <Dialog title="Write mail" onClose={onClose} footer={footer}>
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
        <Field label="To" error={getFieldError('toAgentId')} help={live.length === 0 && to === '' ? 'There is no agent to write to. Start one first.' : undefined}>
          {(control) => (
            <select {...control} value={recipient} onChange={(event) => setAgent(event.target.value)}>
              {to !== '' && !live.some((one) => one.id === to) && <option value={to}>{shortenId(to)}</option>}
              {live.map((one) => (
                <option key={one.id} value={one.id}>
                  {`${one.role} ${shortenId(one.id)}${one.taskSlug === null ? '' : `, ${one.taskSlug}`}`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Subject" error={getFieldError('subject')}>
          {(control) => <input {...control} type="text" value={subject} maxLength={500} onChange={(event) => setSubject(event.target.value)} />}
        </Field>
        <Field label="Body" error={getFieldError('body')} help="Markdown. A running agent reads it when it next checks its inbox.">
          {(control) => <textarea {...control} rows={8} value={body} maxLength={100_000} onChange={(event) => setBody(event.target.value)} />}
        </Field>
      </form>
      {error !== null && !(error instanceof ApiError && error.field !== null) && <Problem error={error} title="The mail could not be sent" />}
    </Dialog>
  );
}
