// Webhooks: state, failed messages, test and retry.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleX, Hourglass, RotateCw, Send, TriangleAlert, type LucideIcon } from 'lucide-react';
import { get, post } from '../../api/client';
import { kinds, useRefresh } from '../../api/live';
import { Button } from '../../parts/Button';
import { Copy } from '../../parts/Copy';
import { Elapsed } from '../../parts/Elapsed';
import { Empty } from '../../parts/Empty';
import { count, took } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { toast } from '../../parts/toast';
import { useParam } from '../../shell/url';
import { Deliveries } from './Deliveries';
import type { TestDelivery, Webhook, WebhookStatus, Webhooks } from '../../api/types';
import css from './WebhooksPart.module.css';

const SNIPPET = `webhooks:
  - name: n8n
    url: http://localhost:5678/webhook/crew
    kinds: [agent.finished, review.*]
    secretVariable: N8N_KEY`;

/** Icon and label of each status; the colour is that of the agent state with the same meaning. */
const LOOK: Readonly<Record<WebhookStatus, { readonly icon: LucideIcon; readonly state: string; readonly word: string }>> = {
  ok: { icon: CircleCheck, state: 'succeeded', word: 'Receives all events' },
  new: { icon: CircleDashed, state: 'queued', word: 'Nothing sent yet' },
  failing: { icon: Hourglass, state: 'limited', word: 'The last message was rejected' },
  held: { icon: TriangleAlert, state: 'failed', word: 'Held' },
  disabled: { icon: CircleX, state: 'failed', word: 'Disabled' },
};

function Hook({ hook, open, readOnly, onOpen }: { readonly hook: Webhook; readonly open: boolean; readonly readOnly: boolean; readonly onOpen: () => void }) {
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ queryKey: ['webhooks'] });
  const path = `/api/webhooks/${encodeURIComponent(hook.name)}`;
  const test = useMutation({ mutationFn: () => post<TestDelivery>(`${path}/test`) });
  const act = useMutation({
    mutationFn: ({ what, body }: { readonly what: string; readonly body: unknown; readonly done: string }) => post(`${path}/${what}`, body),
    onSuccess: (_, { done }) => {
      toast(done);
      refresh();
    },
  });
  const { icon: Icon, state, word } = LOOK[hook.state];
  const sent = test.data;
  return (
    <li className={css.hook}>
      <div className={css.head}>
        <span data-state={state} className={css.mark}>
          <Icon size={14} aria-hidden="true" />
          {word}
        </span>
        <h3>{hook.name}</h3>
        <code className="dim cut">{hook.url}</code>
      </div>
      <p className="small mid">
        {hook.form === 'inngest' ? 'Inngest' : hook.hasKey ? 'Signed' : 'Not signed'}, {hook.kinds.join(' ')}, {hook.attempts === 1 ? 'one try each' : `up to ${hook.attempts} tries each`}
        {hook.lastOkAt !== null && (
          <>
            ; last taken <Elapsed from={hook.lastOkAt} rough /> ago
          </>
        )}
      </p>
      {(hook.problem ?? (hook.state === 'failing' ? hook.lastError : null)) !== null && <p className={css.problem}>{hook.problem ?? hook.lastError}</p>}
      <div className={css.acts}>
        <Button small aria-expanded={open} onClick={onOpen}>
          {count(hook.dead)} given up, {count(hook.pending)} waiting
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
                disabled={act.isPending}
                onClick={() => act.mutate({ what: 'retry', body: {}, done: `${count(hook.dead)} sent again to ${hook.name}` })}
              >
                Retry all {count(hook.dead)}
              </Button>
            )}
            {hook.state === 'disabled' && (
              <>
                <Button small look="primary" disabled={act.isPending} onClick={() => act.mutate({ what: 'enable', body: {}, done: `${hook.name} continues where it stopped` })}>
                  Enable
                </Button>
                <Button small disabled={act.isPending} onClick={() => act.mutate({ what: 'enable', body: { skipMissed: true }, done: `${hook.name} continues with new events` })}>
                  Enable and skip missed events
                </Button>
              </>
            )}
          </>
        )}
        <span role="status" className="small">
          {sent !== undefined && (
            <span data-state={sent.ok ? 'succeeded' : 'failed'} className={css.mark}>
              {sent.ok ? <CircleCheck size={12} aria-hidden="true" /> : <CircleX size={12} aria-hidden="true" />}
              {sent.ok ? `The endpoint accepted the test: ${sent.status}, ${took(sent.millis)}` : `The endpoint rejected the test: ${sent.error}`}
            </span>
          )}
        </span>
      </div>
      {(test.error ?? act.error) !== null && <Problem error={test.error ?? act.error} />}
      {open && <Deliveries hook={hook} readOnly={readOnly} onChanged={refresh} />}
    </li>
  );
}

export function WebhooksPart({ readOnly }: { readonly readOnly: boolean }) {
  const [open, setOpen] = useParam<string>('hook', '');
  useRefresh(kinds('webhook.', 'config.reloaded'), [['webhooks']]);
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
        <Empty title="No webhook yet" commands={['adjutant config path', 'adjutant reload']}>
          A webhook sends events to another program: signed, in order, retried until accepted. Add one to the file:
        </Empty>
      ) : (
        <ul aria-label="Webhooks">
          {hooks.map((hook) => (
            <Hook key={hook.name} hook={hook} open={hook.name === open} readOnly={readOnly} onOpen={() => setOpen(hook.name === open ? '' : hook.name)} />
          ))}
        </ul>
      )}
      <details className={css.how} open={hooks.length === 0}>
        <summary>Add one</summary>
        <pre tabIndex={0} aria-label="An example for config.yaml">{SNIPPET}</pre>
        <Copy text={SNIPPET} label="Copy these lines" />
        <p className="small dim">
          The key is a variable of the server’s environment; it is never shown here. Addresses are shortened, because paths often contain secrets.
        </p>
      </details>
    </div>
  );
}
