// Written by `cargo xtask generate` from what `crates/host/src/agent` knows. Change that, not this.

/** Fields of a tool's input that say most of what a call is about, the most telling first. */
export const SUMMARY_FIELDS: readonly string[] = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'subject',
  'title',
  'slug',
  'role',
  'agentId',
  'agent_id',
  'agentIds',
  'taskId',
  'task',
  'epicId',
  'mailId',
  'id',
  'summary',
  'description',
  'prompt',
];

/** Kinds of agents that hear what is typed while they work. */
export const LISTENING_KINDS: readonly string[] = [
  'claude',
  'codex',
  'acp',
];

/** Kind of agents whose role names none. */
export const DEFAULT_KIND = 'claude';
