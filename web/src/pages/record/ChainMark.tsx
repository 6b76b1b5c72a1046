// Verification of the audit chain, which reveals a changed, removed or inserted row.
import { LoaderCircle, ShieldCheck, ShieldX } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../api/client';
import { Elapsed } from '../../parts/Elapsed';
import { formatCount } from '../../parts/format';
import { useChain } from './queries';
import type { ChainVerification } from '../../api/types';
import css from './ChainMark.module.css';

export function ChainMark({ onOpen }: { readonly onOpen: (number: number) => void }) {
  const { data, error } = useChain();
  const client = useQueryClient();
  const [isChecking, setIsChecking] = useState(false);
  const check = async () => {
    setIsChecking(true);
    try {
      client.setQueryData(['record', 'chain'], await get<ChainVerification>('/api/audit/verify', { full: true }));
    } catch {
      // The next query reports the same error.
      await client.invalidateQueries({ queryKey: ['record', 'chain'] });
    } finally {
      setIsChecking(false);
    }
  };
  if (data === undefined) return error === null ? <span className={css.mark} aria-busy="true" /> : <span className={css.mark}>Chain not verified</span>;
  if (!data.ok) {
    const at = data.brokenAt ?? data.rows + 1;
    return (
      <button type="button" className={css.mark} data-state="failed" title={data.problem ?? undefined} onClick={() => onOpen(at)}>
        <ShieldX size={14} aria-hidden="true" />
        <span>Chain broken at {formatCount(at)}</span>
      </button>
    );
  }
  if (isChecking || data.rows < data.of) {
    return (
      <span className={css.mark} data-state="running" role="status">
        <LoaderCircle size={14} aria-hidden="true" className={css.spin} />
        <span>{isChecking ? 'Verifying the whole chain' : `Verifying the chain, ${formatCount(data.rows)} of ${formatCount(data.of)}`}</span>
      </span>
    );
  }
  return (
    <button type="button" className={css.mark} data-state="succeeded" title="Verify the chain again from the first record" onClick={() => void check()}>
      <ShieldCheck size={14} aria-hidden="true" />
      <span>
        Chain intact, {formatCount(data.rows)} records<span className={css.more}>, verified <Elapsed from={data.checkedAt} rough /> ago</span>
      </span>
    </button>
  );
}
