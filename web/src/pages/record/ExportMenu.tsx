import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/Button';
import { formatCount } from '../../parts/format';
import { Menu } from '../../parts/Menu';
import { Problem } from '../../parts/Problem';
import { showToast } from '../../parts/toast';
import { collectCalls, MAX_EXPORTED_CALLS, saveFile } from './exportCalls';
import type { RecordParams } from './query';
import css from './RecordPage.module.css';

const EXPORT_COMMAND = 'adjutant audit export record.jsonl';

/**
 * Exports the matching calls. The command line exports the whole record, and can verify it later.
 */
export function ExportMenu({ params }: { readonly params: RecordParams }) {
  const [rows, setRows] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setError(null);
    setRows(0);
    try {
      const exported = await collectCalls(params, setRows);
      saveFile('record.jsonl', 'application/x-ndjson', exported.text);
      showToast(exported.left ? `The first ${formatCount(exported.rows)} calls were exported; use the command line for all` : `${formatCount(exported.rows)} calls were exported`);
    } catch (caught) {
      setError(caught);
    } finally {
      setRows(null);
    }
  };
  const copy = () => void navigator.clipboard?.writeText(EXPORT_COMMAND).then(() => showToast('The command was copied'));
  return (
    <>
      <Menu
        label="Export"
        trigger={
          <Button icon={<Download size={12} aria-hidden="true" />} disabled={rows !== null}>
            {rows === null ? 'Export' : `${formatCount(rows)} calls`}
          </Button>
        }
        items={[
          { label: `Export these calls as JSON Lines, up to ${formatCount(MAX_EXPORTED_CALLS)}`, onSelect: () => void run() },
          { label: 'Copy the command for the whole record', hint: 'audit export', onSelect: copy },
        ]}
      />
      {error !== null && (
        <div className={css.exportError}>
          <Problem title="Export failed" error={error} onRetry={() => void run()} />
        </div>
      )}
    </>
  );
}
