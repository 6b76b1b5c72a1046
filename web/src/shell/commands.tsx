// Commands of the palette: matching agents and tasks, pages, actions and tools.
import { useQuery } from '@tanstack/react-query';
import { CircleStop, Keyboard, LogOut, MoonStar, Plus, SquareKanban, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { get } from '../api/client';
import { useReadOnly } from '../api/overview';
import { session } from '../api/session';
import { isOver, StateIcon } from '../parts/State';
import { openKeys, openStart, openTool } from './open';
import { PAGES } from './pages';
import { otherTheme } from './theme';
import { useTools } from './tools';
import type { CrewList, Tasks } from '../api/types';

export interface Command {
  readonly key: string;
  readonly group: string;
  /** Text that the query is matched against. */
  readonly text: string;
  readonly label: ReactNode;
  readonly icon: ReactNode;
  readonly hint?: string;
  /** Hidden without a query, for long groups such as tools. */
  readonly quiet?: boolean;
  readonly act: () => void;
}

interface Found {
  readonly agents: CrewList['rows'];
  readonly tasks: Tasks['tasks'];
}

const NOTHING: Found = { agents: [], tasks: [] };
const VERBS = /^(kill|open|go to)\s+/i;
const MOST_SHOWN = 60;

/** Filters commands that contain every word of the query. */
export function matching(commands: readonly Command[], words: string): readonly Command[] {
  const wanted = words.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (wanted.length === 0) return commands.filter((command) => command.quiet !== true);
  const has = (command: Command) => wanted.every((word) => command.text.toLowerCase().includes(word));
  return commands.filter(has).slice(0, MOST_SHOWN);
}

/** Searches agents and tasks on the server. */
function useFound(words: string): Found {
  const q = words.replace(VERBS, '').trim();
  const { data } = useQuery({
    queryKey: ['palette', q],
    queryFn: async ({ signal }): Promise<Found> => {
      const [crew, tasks] = await Promise.all([
        get<CrewList>('/api/crew', { state: 'all', q, limit: 6 }, signal),
        get<Tasks>('/api/tasks', { q, limit: 6 }, signal),
      ]);
      return { agents: crew.rows, tasks: tasks.tasks };
    },
    enabled: q !== '',
    placeholderData: (before) => before,
    gcTime: 10_000,
  });
  return q === '' || data === undefined ? NOTHING : data;
}

function agentCommands(agent: Found['agents'][number], words: string, readOnly: boolean, go: (href: string) => void): Command[] {
  const name = `${agent.role} ${agent.short}`;
  const about = agent.task === null ? '' : `TAS-${agent.task.number} ${agent.task.title}`;
  // The server may have matched a field that is not shown. The verb is not part of its query.
  const text = `${name} ${agent.id} ${about} ${words.replace(VERBS, '')}`;
  const open: Command = {
    key: `open-${agent.id}`,
    group: 'Agents',
    text: `open ${text}`,
    label: (
      <>
        <b>{name}</b> <span className="dim">{about}</span>
      </>
    ),
    icon: <StateIcon state={agent.state} />,
    act: () => go(`/agents/${agent.id}`),
  };
  if (readOnly || isOver(agent.state)) return [open];
  const kill: Command = {
    key: `kill-${agent.id}`,
    group: 'Agents',
    text: `kill ${text}`,
    label: (
      <>
        <b>Kill {name}</b> <span className="dim">asks first</span>
      </>
    ),
    icon: <CircleStop size={14} aria-hidden="true" />,
    act: () => go(`/agents/${agent.id}?do=kill`),
  };
  return [open, kill];
}

function acts(readOnly: boolean): Command[] {
  const start: Command = { key: 'start', group: 'Do', text: 'start agent new run', label: 'Start agent', icon: <Plus size={14} aria-hidden="true" />, hint: 'n', act: () => openStart() };
  return [
    ...(readOnly ? [] : [start]),
    { key: 'theme', group: 'Do', text: 'theme light dark', label: 'Light or dark', icon: <MoonStar size={14} aria-hidden="true" />, hint: 't', act: otherTheme },
    { key: 'keys', group: 'Do', text: 'keys keyboard shortcuts help', label: 'Keys', icon: <Keyboard size={14} aria-hidden="true" />, hint: '?', act: openKeys },
    {
      key: 'leave',
      group: 'Do',
      text: 'log out leave',
      label: 'Log out of this tab',
      icon: <LogOut size={14} aria-hidden="true" />,
      // The tab forgets its token even if the server is unreachable.
      act: () => void session.leave(),
    },
  ];
}

/** Lists all commands; `filterCommands` applies the query. */
export function useCommands(words: string): readonly Command[] {
  const found = useFound(words);
  const tools = useTools();
  const readOnly = useReadOnly();
  const [, go] = useLocation();
  const pages = PAGES.map(({ name, href, icon: Icon, key }): Command => ({
    key: `page-${href.slice(1)}`,
    group: 'Go to',
    text: `go to ${name}`,
    label: name,
    icon: <Icon size={14} aria-hidden="true" />,
    hint: `g ${key}`,
    act: () => go(href),
  }));
  const tasks = found.tasks.map((task): Command => ({
    key: `task-${task.number}`,
    group: 'Tasks',
    text: `open task TAS-${task.number} ${task.title} ${words.replace(VERBS, '')}`,
    label: (
      <>
        <span className="mono dim">TAS-{task.number}</span> {task.title}
      </>
    ),
    icon: <SquareKanban size={14} aria-hidden="true" />,
    act: () => go(`/tasks?task=${task.number}`),
  }));
  const uses = tools.map((tool): Command => ({
    key: `tool-${tool.canonicalName}`,
    group: 'Tools',
    text: `tool ${tool.name} ${tool.title}`,
    label: (
      <>
        <span className="mono">{tool.name}</span> <span className="dim">{tool.title}</span>
      </>
    ),
    icon: <Wrench size={14} aria-hidden="true" />,
    quiet: true,
    act: () => openTool(tool.canonicalName),
  }));
  return [...found.agents.flatMap((agent) => agentCommands(agent, words, readOnly, go)), ...tasks, ...pages, ...acts(readOnly), ...uses];
}
