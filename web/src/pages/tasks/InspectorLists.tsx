import { useQueryClient } from '@tanstack/react-query';
import { AlignLeft, GitFork, History, Lock, MessageSquare, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { callTool } from '../../api/client';
import { Button } from '../../parts/Button';
import { At } from '../../parts/Elapsed';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { shortId } from '../../parts/format';
import { name } from './moves';
import { taskNames } from './names';
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

interface LinksProps {
  readonly task: TaskDetails;
  readonly readOnly: boolean;
  readonly href: (number: number) => string;
  readonly onOpen: (number: number) => void;
}

function LinkList({ links, href, onOpen }: Pick<LinksProps, 'href' | 'onOpen'> & { readonly links: readonly TaskLink[] }) {
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
            <span className={css.number}>{name(link.number)}</span>
            <span className="cut">{link.title}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Dependencies of a task in both directions. Dependencies can be added but not removed. */
export function Links({ task, readOnly, href, onOpen }: LinksProps) {
  const client = useQueryClient();
  const [written, setWritten] = useState('');
  const [error, setError] = useState<unknown>(null);
  const add = async () => {
    if (written.trim() === '') return;
    setError(null);
    try {
      await callTool('mcp__session__task-update', { id: name(task.number), depends_on: taskNames(written) });
      setWritten('');
      void client.invalidateQueries({ queryKey: ['task', task.number] });
      void client.invalidateQueries({ queryKey: ['board'] });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      {(task.waitsFor.length > 0 || !readOnly) && (
        <Section icon={Lock} title="Waits for">
          <LinkList links={task.waitsFor} href={href} onOpen={onOpen} />
          {!readOnly && task.column !== 'done' && (
            <form
              className={css.add}
              onSubmit={(event) => {
                event.preventDefault();
                void add();
              }}
            >
              <input aria-label="Another task it waits for" placeholder="TAS-12" value={written} maxLength={200} onChange={(event) => setWritten(event.target.value)} />
              <Button small type="submit" disabled={written.trim() === ''}>
                Add
              </Button>
            </form>
          )}
          {error !== null && <Problem error={error} />}
        </Section>
      )}
      {task.waitedForBy.length > 0 && (
        <Section icon={GitFork} title="Waited for by">
          <LinkList links={task.waitedForBy} href={href} onOpen={onOpen} />
        </Section>
      )}
    </>
  );
}

export function HistoryList({ task }: { readonly task: TaskDetails }) {
  const { entries, more } = useHistory(task);
  return (
    <Section icon={History} title="History">
      <ol className={css.history}>
        {entries.map((entry) => (
          <li key={entry.number}>
            <span className="dim">
              <At at={entry.at} />
            </span>{' '}
            {entry.comment === null ? (
              entry.text
            ) : (
              <>
                <span className={css.said}>“{entry.comment}”</span>
                <span className={css.who}>{entry.text}</span>
              </>
            )}
          </li>
        ))}
      </ol>
      {more !== null && (
        <button type="button" className={css.older} onClick={more}>
          Older
        </button>
      )}
    </Section>
  );
}

export function Comments({ task, readOnly }: { readonly task: TaskDetails; readonly readOnly: boolean }) {
  const client = useQueryClient();
  const [body, setBody] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (readOnly && task.comments.length === 0) return null;
  const send = async () => {
    if (busy || body.trim() === '') return;
    setBusy(true);
    setError(null);
    try {
      await callTool('mcp__task__add_comment', { taskId: name(task.number), body });
      setBody('');
      void client.invalidateQueries({ queryKey: ['task', task.number] });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section icon={MessageSquare} title="Comments">
      <ul className={css.comments}>
        {task.comments.map((comment) => (
          <li key={comment.id}>
            <p>{comment.body}</p>
            <span className="dim">
              {comment.agentId === null ? 'the operator' : `${comment.role ?? 'agent'} ${shortId(comment.agentId)}`}, <At at={comment.createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {!readOnly && (
        <div className={css.box}>
          <textarea
            aria-label={`Comment on ${name(task.number)}`}
            placeholder="Whoever works on it later reads it"
            rows={2}
            maxLength={100_000}
            value={body}
            onChange={(event) => setBody(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send();
            }}
          />
          <Button small disabled={busy || body.trim() === ''} onClick={() => void send()}>
            Comment
          </Button>
        </div>
      )}
      {error !== null && <Problem error={error} />}
    </Section>
  );
}

export function Context({ task }: { readonly task: TaskDetails }) {
  // The context may be long and is rendered only when it is opened.
  const [open, setOpen] = useState(false);
  const last = task.dispatches.find((one) => one.summary !== null);
  return (
    <Section icon={AlignLeft} title="Context for the next agent">
      {last !== undefined && (
        <p className={css.last}>
          {last.role} <span className={css.number}>{last.short}</span> {last.status.replaceAll('_', ' ')}: {last.summary}
        </p>
      )}
      <details className={css.context} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Show all</summary>
        {open && (
          <div>
            <Markdown text={task.context} />
          </div>
        )}
      </details>
    </Section>
  );
}
