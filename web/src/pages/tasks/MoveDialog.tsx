import { useState } from 'react';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { Problem } from '../../parts/Problem';
import type { MoveQuestion } from './moves';

interface Props {
  readonly question: MoveQuestion;
  readonly onSubmit: (answer: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Dialog that asks for the text of a move. Stays open if the server refuses. */
export function MoveDialog({ question, onSubmit, onClose }: Props) {
  const [answer, setAnswer] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isMissing = question.isRequired && answer.trim() === '';
  const submit = async () => {
    if (isMissing || isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      await onSubmit(answer.trim());
      onClose();
    } catch (problem) {
      setError(problem);
      setIsBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" disabled={isMissing || isBusy} hint="⌘↵" onClick={() => void submit()}>
        {question.verb}
      </Button>
    </>
  );
  return (
    <Dialog title={question.title} onClose={onClose} footer={footer}>
      <Field label={question.label}>
        {(control) => (
          <textarea
            {...control}
            rows={4}
            maxLength={10_000}
            autoFocus
            value={answer}
            onChange={(event) => setAnswer(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void submit();
            }}
          />
        )}
      </Field>
      {error !== null && <Problem error={error} />}
    </Dialog>
  );
}
