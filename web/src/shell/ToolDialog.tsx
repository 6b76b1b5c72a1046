import { useState } from 'react';
import { callTool, ApiError } from '../api/client';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { Field } from '../parts/Field';
import { Problem } from '../parts/Problem';
import { listChoices, chooseControl, useTools, parseInput, formatInput, type Schema, type ToolDefinition } from './tools';
import css from './ToolDialog.module.css';

interface Props {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly onClose: () => void;
}

/** Form for any tool, generated from its schema. */
export function ToolDialog({ name, input, onClose }: Props) {
  const tool = useTools().find((candidate) => candidate.canonicalName === name || candidate.name === name);
  if (tool === undefined) {
    return (
      <Dialog title={name} onClose={onClose}>
        <p>This tool does not exist, or you may not use it.</p>
      </Dialog>
    );
  }
  return <ToolForm key={tool.canonicalName} tool={tool} input={input} onClose={onClose} />;
}

function ToolForm({ tool, input, onClose }: { readonly tool: ToolDefinition; readonly input: Props['input']; readonly onClose: () => void }) {
  const fields = Object.entries(tool.inputSchema.properties ?? {});
  const [inputs, setInputs] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map(([field, schema]) => [field, formatInput(chooseControl(schema), input[field])])),
  );
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [output, setOutput] = useState<string | null>(null);
  const run = async () => {
    setIsBusy(true);
    setError(null);
    setOutput(null);
    try {
      const values = fields.map(([field, schema]) => [field, parseInput(chooseControl(schema), inputs[field] ?? '')] as const);
      const answer = await callTool(tool.canonicalName, Object.fromEntries(values.filter(([, value]) => value !== undefined)));
      setOutput(JSON.stringify(answer, null, 2));
    } catch (problem) {
      setError(problem instanceof SyntaxError ? new Error(`This is not JSON: ${problem.message}`) : problem);
    }
    setIsBusy(false);
  };
  const errorField = error instanceof ApiError ? error.field : null;
  const footer = (
    <>
      <span className="grow dim small">Recorded as a call of the operator.</span>
      <Button onClick={onClose}>Close</Button>
      <Button variant="primary" disabled={isBusy} onClick={() => void run()}>
        Run
      </Button>
    </>
  );
  return (
    <Dialog title={tool.name} onClose={onClose} footer={footer}>
      <p className="mid">{tool.description}</p>
      {fields.map(([field, schema]) => (
        <ToolInput
          key={field}
          name={field}
          schema={schema}
          required={tool.inputSchema.required?.includes(field) ?? false}
          text={inputs[field] ?? ''}
          error={errorField === field && error instanceof Error ? error.message : null}
          onChange={(value) => setInputs((before) => ({ ...before, [field]: value }))}
        />
      ))}
      {error !== null && errorField === null && <Problem error={error} />}
      {output !== null && (
        <pre className={css.output} tabIndex={0} aria-label="Output">
          {output}
        </pre>
      )}
    </Dialog>
  );
}

interface ToolInputProps {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly text: string;
  readonly error: string | null;
  readonly onChange: (written: string) => void;
}

function ToolInput({ name, schema, required, text, error, onChange }: ToolInputProps) {
  const control = chooseControl(schema);
  return (
    <Field label={required ? name : `${name} (optional)`} help={schema.description} error={error}>
      {(shared) => {
        const props = { ...shared, value: text, onChange: (event: { target: { value: string } }) => onChange(event.target.value) };
        if (control === 'choice' || control === 'yesno') {
          const choices = control === 'yesno' ? ['yes', 'no'] : listChoices(schema);
          return (
            <select {...props}>
              <option value="">{required ? 'Choose' : 'Default'}</option>
              {choices.map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </select>
          );
        }
        if (control === 'number') return <input type="number" {...props} />;
        if (control === 'line') return <input {...props} />;
        return <textarea rows={control === 'text' ? 4 : 3} placeholder={control === 'lines' ? 'One per line' : control === 'json' ? 'JSON' : undefined} {...props} />;
      }}
    </Field>
  );
}
