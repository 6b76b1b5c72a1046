import { useQueryClient } from '@tanstack/react-query';
import { AlignLeft, GitFork, History, Lock, MessageSquare, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { callTool } from '../../api/client';
import { Button } from '../../parts/Button';
import { Timestamp } from '../../parts/Elapsed';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { shortenId } from '../../parts/format';
import { formatTaskNumber } from './moves';
import { parseTaskNames } from './taskNames';
import type { TaskDetails, TaskLink } from '../../api/types';
import { TaskMark } from './TaskMark';
import { useHistory } from './useTask';
import css from './Inspector.module.css';

export function Section({ icon: Icon, title, children }: { readonly icon: LucideIcon; readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={css.section} aria-label={title}>
      <h3>
        <Icon size={12} aria-hidden="true" />
        {title}
      </h3>
      {children}
    </section>
  );
}

interface DependencyListsProps {
  readonly task: TaskDetails;
  readonly readOnly: boolean;
  readonly href: (number: number) => string;
  readonly onOpen: (number: number) => void;
}

function LinkList({ links, href, onOpen }: Pick<DependencyListsProps, 'href' | 'onOpen'> & { readonly links: readonly TaskLink[] }) {
  return (
    <ul className={css.links}>
      {links.map((link) => (
        <li key={link.number}>
          <a
            href={href(link.number)}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              onOpen(link.number);
            }}
          >
            <TaskMark state={link.state} column={link.column} bare />
            <span className={css.number}>{formatTaskNumber(link.number)}</span>
            <span className="cut">{link.title}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Dependencies of a task in both directions. Dependencies can be added but not removed. */
export function DependencyLists({ task, readOnly, href, onOpen }: DependencyListsProps) {
  const client = useQueryClient();
  const [input, setInput] = useState('');
  const [error, setError] = useState<unknown>(null);
  const add = async () => {
    if (input.trim() === '') return;
    setError(null);
    try {
      await callTool('mcp__session__task-update', { id: formatTaskNumber(task.number), depends_on: parseTaskNames(input) });
      setInput('');
      void client.invalidateQueries({ queryKey: ['task', task.number] });
      void client.invalidateQueries({ queryKey: ['board'] });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      {(task.waitsFor.length > 0 || !readOnly) && (
        <Section icon={Lock} title="Depends on">
          <LinkList links={task.waitsFor} href={href} onOpen={onOpen} />
          {!readOnly && task.column !== 'done' && (
            <form
              className={css.add}
              onSubmit={(event) => {
                event.preventDefault();
                void add();
              }}
            >
              <input aria-label="Add a dependency" placeholder="TAS-12" value={input} maxLength={200} onChange={(event) => setInput(event.target.value)} />
              <Button small type="submit" disabled={input.trim() === ''}>
                Add
              </Button>
            </form>
          )}
          {error !== null && <Problem error={error} />}
        </Section>
      )}
      {task.waitedForBy.length > 0 && (
        <Section icon={GitFork} title="Dependents">
          <LinkList links={task.waitedForBy} href={href} onOpen={onOpen} />
        </Section>
      )}
    </>
  );
}

export function HistoryList({ task }: { readonly task: TaskDetails }) {
  const { entries, loadOlder } = useHistory(task);
  return (
    <Section icon={History} title="History">
      <ol className={css.history}>
        {entries.map((entry) => (
          <li key={entry.number}>
            <span className="dim">
              <Timestamp at={entry.at} />
            </span>{' '}
            {entry.comment === null ? (
              entry.text
            ) : (
              <>
                <span className={css.quote}>“{entry.comment}”</span>
                <span className={css.author}>{entry.text}</span>
              </>
            )}
          </li>
        ))}
      </ol>
      {loadOlder !== null && (
        <button type="button" className={css.older} onClick={loadOlder}>
          Load older
        </button>
      )}
    </Section>
  );
}

export function Comments({ task, readOnly }: { readonly task: TaskDetails; readonly readOnly: boolean }) {
  const client = useQueryClient();
  const [body, setBody] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (readOnly && task.comments.length === 0) return null;
  const send = async () => {
    if (isBusy || body.trim() === '') return;
    setIsBusy(true);
    setError(null);
    try {
      await callTool('mcp__task__add_comment', { taskId: formatTaskNumber(task.number), body });
      setBody('');
      void client.invalidateQueries({ queryKey: ['task', task.number] });
    } catch (problem) {
      setError(problem);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Section icon={MessageSquare} title="Comments">
      <ul className={css.comments}>
        {task.comments.map((comment) => (
          <li key={comment.id}>
            <p>{comment.body}</p>
            <span className="dim">
              {comment.agentId === null ? 'the operator' : `${comment.role ?? 'agent'} ${shortenId(comment.agentId)}`}, <Timestamp at={comment.createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {!readOnly && (
        <div className={css.box}>
          <textarea
            aria-label={`Comment on ${formatTaskNumber(task.number)}`}
            placeholder="Visible to every agent that works on this task"
            rows={2}
            maxLength={100_000}
            value={body}
            onChange={(event) => setBody(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
            }}
          />
          <Button small disabled={isBusy || body.trim() === ''} onClick={() => void send()}>
            Comment
          </Button>
        </div>
      )}
      {error !== null && <Problem error={error} />}
    </Section>
  );
}

export function ContextSection({ task }: { readonly task: TaskDetails }) {
  // The context may be long and is rendered only when it is opened.
  const [isOpen, setIsOpen] = useState(false);
  const last = task.dispatches.find((one) => one.summary !== null);
  return (
    <Section icon={AlignLeft} title="Context for the next agent">
      {last !== undefined && (
        <p className={css.last}>
          {last.role} <span className={css.number}>{last.short}</span> {last.status.replaceAll('_', ' ')}: {last.summary}
        </p>
      )}
      <details className={css.context} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>Show all</summary>
        {isOpen && (
          <div>
            <Markdown text={task.context} />
          </div>
        )}
      </details>
    </Section>
  );
}
