// Available tools, and the controls of their input fields.
import { useQuery } from '@tanstack/react-query';
import { get } from '../api/client';
import { useReadOnly } from '../api/overview';
import type { ToolEntry, Tools } from '../api/types';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly maxLength?: number;
  readonly anyOf?: readonly Schema[];
}

export type ToolDefinition = Omit<ToolEntry, 'inputSchema'> & { readonly inputSchema: Schema };

const NO_TOOLS: readonly ToolDefinition[] = [];

export function useTools(): readonly ToolDefinition[] {
  const readOnly = useReadOnly();
  const { data } = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => get<Tools>('/api/tools', {}, signal),
    enabled: !readOnly,
    staleTime: 60_000,
  });
  return data?.tools ?? NO_TOOLS;
}

export type FieldControl = 'line' | 'text' | 'number' | 'yesno' | 'choice' | 'lines' | 'json';

function listTypes(schema: Schema): readonly string[] {
  const own = schema.type === undefined ? [] : typeof schema.type === 'string' ? [schema.type] : schema.type;
  return [...own, ...(schema.anyOf ?? []).flatMap(listTypes)].filter((type) => type !== 'null');
}

/** Chooses the control of a field; complex types use JSON. */
export function chooseControl(schema: Schema): FieldControl {
  if (schema.enum !== undefined || schema.anyOf?.some((one) => one.enum !== undefined) === true) return 'choice';
  const types = listTypes(schema);
  if (types.length !== 1) return 'json';
  switch (types[0]) {
    case 'string':
      return (schema.maxLength ?? 0) > 1000 ? 'text' : 'line';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'yesno';
    case 'array':
      return schema.items !== undefined && chooseControl(schema.items) === 'line' ? 'lines' : 'json';
    default:
      return 'json';
  }
}

export function listChoices(schema: Schema): readonly string[] {
  const all = schema.enum ?? schema.anyOf?.flatMap((one) => one.enum ?? []) ?? [];
  return all.filter((one): one is string => typeof one === 'string');
}

/** Parses the text of a control; returns undefined if it is empty. */
export function parseInput(control: FieldControl, text: string): unknown {
  if (text.trim() === '') return undefined;
  switch (control) {
    case 'number':
      return Number(text);
    case 'yesno':
      return text === 'yes';
    case 'lines':
      return text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
    case 'json':
      return JSON.parse(text) as unknown;
    default:
      return text;
  }
}

/** Formats a value for its control. */
export function formatInput(control: FieldControl, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (control === 'yesno') return value === true ? 'yes' : 'no';
  if (control === 'lines' && Array.isArray(value)) return value.join('\n');
  return typeof value === 'string' && control !== 'json' ? value : JSON.stringify(value, null, 2);
}
