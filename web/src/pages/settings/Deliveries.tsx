// Messages to a webhook: failed, queued and delivered.
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { get, post } from '../../api/client';
import { Button } from '../../parts/Button';
import { Json } from '../../parts/Code';
import { At, Elapsed } from '../../parts/Elapsed';
import { count } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { Segmented } from '../../parts/Segmented';
import { Skeleton } from '../../parts/Skeleton';
import { toast } from '../../parts/toast';
import { useNow } from '../../parts/clock';
import type { Deliveries, Delivery, DeliveryState, Webhook } from '../../api/types';
import css from './WebhooksPart.module.css';

const NOTHING: Readonly<Record<DeliveryState, string>> = {
  dead: 'No failed messages.',
  pending: 'No queued messages.',
  delivered: 'No delivered messages yet. The last 200 are kept.',
};

function Next({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <>waits behind another</>;
  return Date.parse(at) <= now ? <>is being sent</> : <>next try <At at={at} /></>;
}

function Row({ one, readOnly, onRetry }: { readonly one: Delivery; readonly readOnly: boolean; readonly onRetry: (() => void) | null }) {
  const [open, setOpen] = useState(false);
  const Arrow = open ? ChevronDown : ChevronRight;
  const tries = one.attempts === 1 ? 'one try' : `${one.attempts} tries`;
  return (
    <li className={css.delivery}>
      <div className={css.line}>
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} title={one.id}>
          <Arrow size={12} aria-hidden="true" />
          <span>{one.kind}</span>
          <span className="dim">event {count(one.eventNumber)}</span>
        </button>
        <span className="small mid">
          {one.state === 'pending' ? <Next at={one.nextTryAt} /> : one.endedAt !== null && <><Elapsed from={one.endedAt} rough /> ago</>}, {tries}
        </span>
        {onRetry !== null && !readOnly && (
          <Button small onClick={onRetry} aria-label={`Retry ${one.kind}, event ${one.eventNumber}`}>
            Retry
          </Button>
        )}
      </div>
      {one.lastError !== null && <p className={css.problem}>{one.lastError}</p>}
      {open && <Json value={one.body} label={`Body sent for event ${one.eventNumber}`} />}
    </li>
  );
}

interface Props {
  readonly hook: Webhook;
  readonly readOnly: boolean;
  readonly onChanged: () => void;
}

export function Deliveries({ hook, readOnly, onChanged }: Props) {
  const [state, setState] = useState<DeliveryState>(hook.dead > 0 ? 'dead' : hook.pending > 0 ? 'pending' : 'delivered');
  const client = useQueryClient();
  const path = `/api/webhooks/${encodeURIComponent(hook.name)}/deliveries`;
  const key = ['webhooks', 'deliveries', hook.name, state];
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => get<Deliveries>(path, { state, limit: 50, after: pageParam }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.nextCursor ?? null,
    refetchInterval: 3000,
  });
  const retry = useMutation({
    mutationFn: (one: Delivery) => post(`${path}/${one.id}/retry`),
    onSuccess: async (_, one) => {
      toast(`${one.kind}, event ${count(one.eventNumber)}, is queued again`);
      await client.invalidateQueries({ queryKey: ['webhooks'] });
      onChanged();
    },
  });
  const rows = query.data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <section className={css.deliveries} aria-label={`Messages to ${hook.name}`}>
      <div className={css.which}>
        <Segmented
          label="Which messages"
          value={state}
          choices={[
            { value: 'dead', label: 'Given up', count: hook.dead },
            { value: 'pending', label: 'Waiting', count: hook.pending },
            { value: 'delivered', label: 'Taken' },
          ]}
          onChange={setState}
        />
      </div>
      {retry.error !== null && <Problem error={retry.error} />}
      {query.error !== null && query.data === undefined && <Problem error={query.error} title="The messages could not be read" onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton rows={4} height={40} />}
      {query.data !== undefined && rows.length === 0 && <p className="small dim">{NOTHING[state]}</p>}
      <ul>
        {rows.map((one) => (
          <Row key={one.id} one={one} readOnly={readOnly} onRetry={state === 'dead' && hook.state !== 'disabled' ? () => retry.mutate(one) : null} />
        ))}
      </ul>
      {query.hasNextPage && (
        <Button small onClick={() => void query.fetchNextPage()}>
          Older ones
        </Button>
      )}
    </section>
  );
}
