// Messages to a webhook: failed, queued and delivered.
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { get, post } from '../../api/client';
import { Button } from '../../parts/Button';
import { Json } from '../../parts/Code';
import { Timestamp, Elapsed } from '../../parts/Elapsed';
import { formatCount } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { SegmentedControl } from '../../parts/SegmentedControl';
import { Skeleton } from '../../parts/Skeleton';
import { showToast } from '../../parts/toast';
import { useNow } from '../../parts/clock';
import type { Deliveries, Delivery, DeliveryState, Webhook } from '../../api/types';
import css from './WebhooksPart.module.css';

const EMPTY_TEXTS: Readonly<Record<DeliveryState, string>> = {
  dead: 'No failed messages.',
  pending: 'No queued messages.',
  delivered: 'No delivered messages yet. The last 200 are kept.',
};

function NextAttempt({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <>waits for an earlier message</>;
  return Date.parse(at) <= now ? <>sending</> : <>next attempt <Timestamp at={at} /></>;
}

function DeliveryRow({ delivery, readOnly, onRetry }: { readonly delivery: Delivery; readonly readOnly: boolean; readonly onRetry: (() => void) | null }) {
  const [isOpen, setIsOpen] = useState(false);
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  const tries = delivery.attempts === 1 ? 'one attempt' : `${delivery.attempts} attempts`;
  return (
    <li className={css.delivery}>
      <div className={css.line}>
        <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)} title={delivery.id}>
          <Arrow size={12} aria-hidden="true" />
          <span>{delivery.kind}</span>
          <span className="dim">event {formatCount(delivery.eventNumber)}</span>
        </button>
        <span className="small mid">
          {delivery.state === 'pending' ? <NextAttempt at={delivery.nextTryAt} /> : delivery.endedAt !== null && <><Elapsed from={delivery.endedAt} rough /> ago</>}, {tries}
        </span>
        {onRetry !== null && !readOnly && (
          <Button small onClick={onRetry} aria-label={`Retry ${delivery.kind}, event ${delivery.eventNumber}`}>
            Retry
          </Button>
        )}
      </div>
      {delivery.lastError !== null && <p className={css.problem}>{delivery.lastError}</p>}
      {isOpen && <Json value={delivery.body} label={`Body sent for event ${delivery.eventNumber}`} />}
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
      showToast(`${one.kind}, event ${formatCount(one.eventNumber)}, is queued again`);
      await client.invalidateQueries({ queryKey: ['webhooks'] });
      onChanged();
    },
  });
  const rows = query.data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <section className={css.deliveries} aria-label={`Messages to ${hook.name}`}>
      <div className={css.filter}>
        <SegmentedControl
          label="State"
          value={state}
          choices={[
            { value: 'dead', label: 'Failed', count: hook.dead },
            { value: 'pending', label: 'Queued', count: hook.pending },
            { value: 'delivered', label: 'Delivered' },
          ]}
          onChange={setState}
        />
      </div>
      {retry.error !== null && <Problem error={retry.error} />}
      {query.error !== null && query.data === undefined && <Problem error={query.error} title="The messages could not be read" onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton rows={4} height={40} />}
      {query.data !== undefined && rows.length === 0 && <p className="small dim">{EMPTY_TEXTS[state]}</p>}
      <ul>
        {rows.map((one) => (
          <DeliveryRow key={one.id} delivery={one} readOnly={readOnly} onRetry={state === 'dead' && hook.state !== 'disabled' ? () => retry.mutate(one) : null} />
        ))}
      </ul>
      {query.hasNextPage && (
        <Button small onClick={() => void query.fetchNextPage()}>
          Load older
        </Button>
      )}
    </section>
  );
}
