import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/Button';
import { count } from '../../parts/format';
import { Menu } from '../../parts/Menu';
import { Problem } from '../../parts/Problem';
import { toast } from '../../parts/toast';
import { collect, MOST, save } from './exporting';
import type { Params } from './query';
import css from './RecordPage.module.css';

const COMMAND = 'adjutant audit export record.jsonl';

/**
 * Exports the matching calls. The command line exports the whole record, and can verify it later.
 */
export function Export({ params }: { readonly params: Params }) {
  const [rows, setRows] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setError(null);
    setRows(0);
    try {
      const found = await collect(params, setRows);
      save('record.jsonl', 'application/x-ndjson', found.text);
      toast(found.left ? `The first ${count(found.rows)} calls were exported; use the command line for all` : `${count(found.rows)} calls were exported`);
    } catch (caught) {
      setError(caught);
    } finally {
      setRows(null);
    }
  };
  const copy = () => void navigator.clipboard?.writeText(COMMAND).then(() => toast('The command was copied'));
  return (
    <>
      <Menu
        label="Export"
        trigger={
          <Button icon={<Download size={12} aria-hidden="true" />} disabled={rows !== null}>
            {rows === null ? 'Export' : `${count(rows)} calls`}
          </Button>
        }
        items={[
          { label: `These calls as JSON Lines, up to ${count(MOST)}`, onSelect: () => void run() },
          { label: 'Copy the command for the whole record', hint: 'audit export', onSelect: copy },
        ]}
      />
      {error !== null && (
        <div className={css.trouble}>
          <Problem title="Export failed" error={error} onRetry={() => void run()} />
        </div>
      )}
    </>
  );
}
