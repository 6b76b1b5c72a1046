import { useState } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import type { Question } from './moves';

interface Props {
  readonly asks: Question;
  readonly onSay: (words: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Dialog that asks for the text of a move. Stays open if the server refuses. */
export function MoveDialog({ asks, onSay, onClose }: Props) {
  const [words, setWords] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const missing = asks.needed && words.trim() === '';
  const say = async () => {
    if (missing || busy) return;
    setBusy(true);
    setError(null);
    try {
      await onSay(words.trim());
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" disabled={missing || busy} hint="⌘↵" onClick={() => void say()}>
        {asks.verb}
      </Button>
    </>
  );
  return (
    <Dialog title={asks.title} onClose={onClose} foot={foot}>
      <Field label={asks.label}>
        {(control) => (
          <textarea
            {...control}
            rows={4}
            maxLength={10_000}
            autoFocus
            value={words}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void say();
            }}
          />
        )}
      </Field>
      {error !== null && <Problem error={error} />}
    </Dialog>
  );
}
