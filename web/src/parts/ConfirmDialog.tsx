import { useState, type ReactNode } from 'react';
import { Button } from './Button';
import { Dialog } from './Dialog';
import { Problem } from './Problem';

interface Props {
  /** Question that names the target: "Kill coordinator 9d2kq and 10 agents below it?" */
  readonly title: string;
  /** Consequences, in numbers. */
  readonly children: ReactNode;
  /** Button label: "Kill 11 agents". */
  readonly verb: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/**
 * Dialog that confirms a destructive action. Stays open until the action is done, and shows its
 * error.
 */
export function ConfirmDialog({ title, children, verb, onConfirm, onClose }: Props) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const confirm = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="danger" disabled={isBusy} autoFocus onClick={() => void confirm()}>
        {verb}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer}>
      <div className="mid">{children}</div>
      {error !== null && <Problem error={error} />}
    </Dialog>
  );
}
