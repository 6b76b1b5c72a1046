import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { Link } from 'wouter';
import { get } from '../../api/client';
import { Elapsed } from '../../parts/Elapsed';
import { formatOrdinal, formatTime } from '../../parts/format';
import { StateIcon } from '../../parts/State';
import type { CrewRow, CrewRows } from '../../api/types';
import css from './Stream.module.css';

function ReviewerCard({ id }: { readonly id: string }) {
  const { data } = useQuery({
    queryKey: ['agents', id, 'row'],
    queryFn: ({ signal }) => get<CrewRows>('/api/crew/rows', { ids: id }, signal),
    refetchInterval: 5000,
  });
  const row = data?.rows[0];
  if (row === undefined) return null;
  return (
    <Link href={`/agents/${row.id}`} className={css.card}>
      <StateIcon state={row.state} />
      <span className="strong">{row.displayName ?? row.role}</span>
      <span className="mono dim">{row.short}</span>
      <span className={`${css.doing} cut grow`}>
        {row.doing !== null && (
          <>
            {row.doing.tool !== null && <b>{row.doing.tool} </b>}
            {row.doing.text}
          </>
        )}
      </span>
      <span className="small dim">
        <Elapsed from={row.startedAt} to={row.finishedAt} />
      </span>
      <ChevronRight size={14} aria-hidden="true" />
    </Link>
  );
}

/** Explains a waiting state below the stream; empty for a running agent. */
export function WaitingStatus({ row }: { readonly row: CrewRow }) {
  switch (row.state) {
    case 'waiting_review':
      return (
        <div className={css.now}>
          <p>Waits for review{row.review === null ? '' : ` ${row.review.iteration} of ${row.review.max}`}. It does not occupy a slot meanwhile.</p>
          {row.review !== null && row.review.reviewerId !== null && <ReviewerCard id={row.review.reviewerId} />}
        </div>
      );
    case 'waiting_input':
      return (
        <div className={css.now}>
          <p>Needs you{row.asks !== null && ':'}</p>
          {row.asks !== null && (
            <Link href={`/mail/${row.asks.mailId}`} className={css.card}>
              <StateIcon state="waiting_input" />
              <span className="cut grow strong">{row.asks.subject}</span>
              <span className="small dim">
                <Elapsed from={row.asks.since} rough />
              </span>
              <ChevronRight size={14} aria-hidden="true" />
            </Link>
          )}
        </div>
      );
    case 'limited':
      return (
        <div className={css.now}>
          <p>Its model is limited{row.limitedUntil === null ? '' : ` until ${formatTime(row.limitedUntil)}`}; the agent continues automatically.</p>
        </div>
      );
    case 'queued':
      return (
        <div className={css.now}>
          <p>{row.queuePlace === null ? 'Waits for a slot.' : `${formatOrdinal(row.queuePlace)} in line for a slot.`}</p>
        </div>
      );
    default:
      return null;
  }
}
