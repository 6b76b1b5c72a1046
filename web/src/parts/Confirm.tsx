import { useState, type ReactNode } from 'react';
import { Button } from './Button';
import { Dialog } from './Dialog';
import { Problem } from './Problem';

interface Props {
  /** A question that names what ends: "Kill coordinator 9d2kq and its 10?" */
  readonly title: string;
  /** What will happen, in numbers. */
  readonly children: ReactNode;
  /** The verb on the button: "Kill 11 agents". */
  readonly verb: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something ends. It stays open until that is done, and says so where it cannot be. */
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
