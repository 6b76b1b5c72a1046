// Webhooks: state, failed messages, test and retry.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleX, Hourglass, RotateCw, Send, TriangleAlert, type LucideIcon } from 'lucide-react';
import { get, post } from '../../api/client';
import { matchKinds, useRefreshOnEvents } from '../../api/live';
import { Button } from '../../parts/Button';
import { CopyButton } from '../../parts/CopyButton';
import { Elapsed } from '../../parts/Elapsed';
import { EmptyState } from '../../parts/EmptyState';
import { formatCount, formatLatency, pluralize } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { showToast } from '../../parts/toast';
import { useParam } from '../../shell/url';
import { Deliveries } from './Deliveries';
import type { TestDelivery, Webhook, WebhookStatus, Webhooks } from '../../api/types';
import css from './WebhooksPart.module.css';

const EXAMPLE_CONFIG = `webhooks:
  - name: n8n
    url: http://localhost:5678/webhook/crew
    kinds: [agent.finished, review.*]
    secretVariable: N8N_KEY`;

/** Icon and label of each status; the colour is that of the agent state with the same meaning. */
const STATUS_LOOKS: Readonly<Record<WebhookStatus, { readonly icon: LucideIcon; readonly state: string; readonly label: string }>> = {
  ok: { icon: CircleCheck, state: 'succeeded', label: 'Receives all events' },
  new: { icon: CircleDashed, state: 'queued', label: 'Nothing sent yet' },
  failing: { icon: Hourglass, state: 'limited', label: 'The last message was rejected' },
  held: { icon: TriangleAlert, state: 'failed', label: 'Held' },
  disabled: { icon: CircleX, state: 'failed', label: 'Disabled' },
};

function WebhookItem({ hook, open, readOnly, onOpen }: { readonly hook: Webhook; readonly open: boolean; readonly readOnly: boolean; readonly onOpen: () => void }) {
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ['webhooks'] });
  const path = `/api/webhooks/${encodeURIComponent(hook.name)}`;
  const test = useMutation({ mutationFn: () => post<TestDelivery>(`${path}/test`) });
  const mutation = useMutation({
    mutationFn: ({ what, body }: { readonly what: string; readonly body: unknown; readonly done: string }) => post(`${path}/${what}`, body),
    onSuccess: (_, { done }) => {
      showToast(done);
      refresh();
    },
  });
  const { icon: Icon, state, label } = STATUS_LOOKS[hook.state];
  const testResult = test.data;
  return (
    <li className={css.hook}>
      <div className={css.head}>
        <span data-state={state} className={css.mark}>
          <Icon size={14} aria-hidden="true" />
          {label}
        </span>
        <h3>{hook.name}</h3>
        <code className="dim cut">{hook.url}</code>
      </div>
      <p className="small mid">
        {hook.form === 'inngest' ? 'Inngest' : hook.hasKey ? 'Signed' : 'Not signed'}, {hook.kinds.join(' ')}, {hook.attempts === 1 ? 'one attempt each' : `up to ${hook.attempts} attempts each`}
        {hook.lastOkAt !== null && (
          <>
            ; last delivered <Elapsed from={hook.lastOkAt} rough /> ago
          </>
        )}
      </p>
      {(hook.problem ?? (hook.state === 'failing' ? hook.lastError : null)) !== null && <p className={css.problem}>{hook.problem ?? hook.lastError}</p>}
      <div className={css.acts}>
        <Button small aria-expanded={open} onClick={onOpen}>
          {formatCount(hook.dead)} failed, {formatCount(hook.pending)} queued
        </Button>
        {!readOnly && (
          <>
            <Button small icon={<Send size={12} aria-hidden="true" />} disabled={test.isPending} onClick={() => test.mutate()}>
              Test
            </Button>
            {hook.dead > 0 && hook.state !== 'disabled' && (
              <Button
                small
                icon={<RotateCw size={12} aria-hidden="true" />}
                disabled={mutation.isPending}
                onClick={() => mutation.mutate({ what: 'retry', body: {}, done: `${pluralize(hook.dead, 'message')} queued again for ${hook.name}` })}
              >
                Retry all {formatCount(hook.dead)}
              </Button>
            )}
            {hook.state === 'disabled' && (
              <>
                <Button small variant="primary" disabled={mutation.isPending} onClick={() => mutation.mutate({ what: 'enable', body: {}, done: `${hook.name} continues where it stopped` })}>
                  Enable
                </Button>
                <Button small disabled={mutation.isPending} onClick={() => mutation.mutate({ what: 'enable', body: { skipMissed: true }, done: `${hook.name} continues with new events` })}>
                  Enable and skip missed events
                </Button>
              </>
            )}
          </>
        )}
        <span role="status" className="small">
          {testResult !== undefined && (
            <span data-state={testResult.ok ? 'succeeded' : 'failed'} className={css.mark}>
              {testResult.ok ? <CircleCheck size={12} aria-hidden="true" /> : <CircleX size={12} aria-hidden="true" />}
              {testResult.ok ? `The endpoint accepted the test: ${testResult.status}, ${formatLatency(testResult.millis)}` : `The endpoint rejected the test: ${testResult.error}`}
            </span>
          )}
        </span>
      </div>
      {(test.error ?? mutation.error) !== null && <Problem error={test.error ?? mutation.error} />}
      {open && <Deliveries hook={hook} readOnly={readOnly} onChanged={refresh} />}
    </li>
  );
}

export function WebhooksPart({ readOnly }: { readonly readOnly: boolean }) {
  const [open, setOpen] = useParam<string>('hook', '');
  useRefreshOnEvents(matchKinds('webhook.', 'config.reloaded'), [['webhooks']]);
  const query = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => get<Webhooks>('/api/webhooks', {}, signal),
    // A delivery has no event, so the page polls.
    refetchInterval: 3000,
  });
  if (query.error !== null && query.data === undefined) return <Problem error={query.error} title="The webhooks could not be read" onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Skeleton rows={3} height={72} />;
  const hooks = query.data.webhooks;
  return (
    <div className={css.webhooks}>
      {hooks.length === 0 ? (
        <EmptyState title="No webhook yet" commands={['adjutant config path', 'adjutant reload']}>
          A webhook sends events to another program: signed, in order, retried until accepted. Add one to the file:
        </EmptyState>
      ) : (
        <ul aria-label="Webhooks">
          {hooks.map((hook) => (
            <WebhookItem key={hook.name} hook={hook} open={hook.name === open} readOnly={readOnly} onOpen={() => setOpen(hook.name === open ? '' : hook.name)} />
          ))}
        </ul>
      )}
      <details className={css.example} open={hooks.length === 0}>
        <summary>Add a webhook</summary>
        <pre tabIndex={0} aria-label="An example for config.yaml">{EXAMPLE_CONFIG}</pre>
        <CopyButton text={EXAMPLE_CONFIG} label="Copy these lines" />
        <p className="small dim">
          The key is a variable of the server’s environment; it is never shown here. Addresses are shortened, because paths often contain secrets.
        </p>
      </details>
    </div>
  );
}
