// Commands of the palette: matching agents and tasks, pages, actions and tools.
import { useQuery } from '@tanstack/react-query';
import { CircleStop, Keyboard, LogOut, MoonStar, Plus, SquareKanban, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { get } from '../api/client';
import { useReadOnly } from '../api/overview';
import { session } from '../api/session';
import { hasEnded, StateIcon } from '../parts/State';
import { openKeysHelp, openStartAgent, openTool } from './overlay';
import { PAGES } from './pages';
import { toggleTheme } from './theme';
import { useTools } from './tools';
import type { CrewList, Tasks } from '../api/types';

export interface Command {
  readonly key: string;
  readonly group: string;
  /** Text that the query is matched against. */
  readonly searchText: string;
  readonly label: ReactNode;
  readonly icon: ReactNode;
  readonly hint?: string;
  /** Hidden without a query, for long groups such as tools. */
  readonly isHiddenWithoutQuery?: boolean;
  readonly run: () => void;
}

interface SearchResults {
  readonly agents: CrewList['rows'];
  readonly tasks: Tasks['tasks'];
}

const NO_RESULTS: SearchResults = { agents: [], tasks: [] };
const VERB_PREFIX = /^(kill|open|go to)\s+/i;
const MAX_SHOWN_COMMANDS = 60;

/** Filters commands that contain every word of the query. */
export function filterCommands(commands: readonly Command[], query: string): readonly Command[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return commands.filter((command) => command.isHiddenWithoutQuery !== true);
  const hasEveryWord = (command: Command) => words.every((word) => command.searchText.toLowerCase().includes(word));
  return commands.filter(hasEveryWord).slice(0, MAX_SHOWN_COMMANDS);
}

/** Searches agents and tasks on the server. */
function useSearchResults(query: string): SearchResults {
  const q = query.replace(VERB_PREFIX, '').trim();
  const { data } = useQuery({
    queryKey: ['palette', q],
    queryFn: async ({ signal }): Promise<SearchResults> => {
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
  return q === '' || data === undefined ? NO_RESULTS : data;
}

function buildAgentCommands(agent: SearchResults['agents'][number], query: string, readOnly: boolean, navigate: (href: string) => void): Command[] {
  const name = `${agent.role} ${agent.short}`;
  const about = agent.task === null ? '' : `TAS-${agent.task.number} ${agent.task.title}`;
  // The server may have matched a field that is not shown. The verb is not part of its query.
  const searchText = `${name} ${agent.id} ${about} ${query.replace(VERB_PREFIX, '')}`;
  const open: Command = {
    key: `open-${agent.id}`,
    group: 'Agents',
    searchText: `open ${searchText}`,
    label: (
      <>
        <b>{name}</b> <span className="dim">{about}</span>
      </>
    ),
    icon: <StateIcon state={agent.state} />,
    run: () => navigate(`/agents/${agent.id}`),
  };
  if (readOnly || hasEnded(agent.state)) return [open];
  const kill: Command = {
    key: `kill-${agent.id}`,
    group: 'Agents',
    searchText: `kill ${searchText}`,
    label: (
      <>
        <b>Kill {name}</b> <span className="dim">asks first</span>
      </>
    ),
    icon: <CircleStop size={14} aria-hidden="true" />,
    run: () => navigate(`/agents/${agent.id}?do=kill`),
  };
  return [open, kill];
}

function buildActionCommands(readOnly: boolean): Command[] {
  const start: Command = { key: 'start', group: 'Actions', searchText: 'start agent new run', label: 'Start agent', icon: <Plus size={14} aria-hidden="true" />, hint: 'n', run: () => openStartAgent() };
  return [
    ...(readOnly ? [] : [start]),
    { key: 'theme', group: 'Actions', searchText: 'theme light dark', label: 'Switch between light and dark', icon: <MoonStar size={14} aria-hidden="true" />, hint: 't', run: toggleTheme },
    { key: 'keys', group: 'Actions', searchText: 'keys keyboard shortcuts help', label: 'Show keys', icon: <Keyboard size={14} aria-hidden="true" />, hint: '?', run: openKeysHelp },
    {
      key: 'leave',
      group: 'Actions',
      searchText: 'log out leave',
      label: 'Log out of this tab',
      icon: <LogOut size={14} aria-hidden="true" />,
      // The tab forgets its token even if the server is unreachable.
      run: () => void session.logOut(),
    },
  ];
}

/** Lists all commands; `filterCommands` applies the query. */
export function useCommands(query: string): readonly Command[] {
  const results = useSearchResults(query);
  const tools = useTools();
  const readOnly = useReadOnly();
  const [, navigate] = useLocation();
  const pageCommands = PAGES.map(({ name, href, icon: Icon, key }): Command => ({
    key: `page-${href.slice(1)}`,
    group: 'Go to',
    searchText: `go to ${name}`,
    label: name,
    icon: <Icon size={14} aria-hidden="true" />,
    hint: `g ${key}`,
    run: () => navigate(href),
  }));
  const taskCommands = results.tasks.map((task): Command => ({
    key: `task-${task.number}`,
    group: 'Tasks',
    searchText: `open task TAS-${task.number} ${task.title} ${query.replace(VERB_PREFIX, '')}`,
    label: (
      <>
        <span className="mono dim">TAS-{task.number}</span> {task.title}
      </>
    ),
    icon: <SquareKanban size={14} aria-hidden="true" />,
    run: () => navigate(`/tasks?task=${task.number}`),
  }));
  const toolCommands = tools.map((tool): Command => ({
    key: `tool-${tool.canonicalName}`,
    group: 'Tools',
    searchText: `tool ${tool.name} ${tool.title}`,
    label: (
      <>
        <span className="mono">{tool.name}</span> <span className="dim">{tool.title}</span>
      </>
    ),
    icon: <Wrench size={14} aria-hidden="true" />,
    isHiddenWithoutQuery: true,
    run: () => openTool(tool.canonicalName),
  }));
  return [...results.agents.flatMap((agent) => buildAgentCommands(agent, query, readOnly, navigate)), ...taskCommands, ...pageCommands, ...buildActionCommands(readOnly), ...toolCommands];
}
