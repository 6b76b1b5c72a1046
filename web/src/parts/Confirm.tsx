import { useState, type ReactNode } from 'react';
import { Button } from './Button';
import { Dialog } from './Dialog';
import { Problem } from './Problem';

interface Props {
  /** Question that names the target: "Kill coordinator 9d2kq and its 10?" */
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
export function Confirm({ title, children, verb, onConfirm, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="danger" disabled={busy} autoFocus onClick={() => void act()}>
        {verb}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} foot={foot}>
      <div className="mid">{children}</div>
      {error !== null && <Problem error={error} />}
    </Dialog>
  );
}
