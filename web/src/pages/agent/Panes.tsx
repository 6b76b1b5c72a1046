// Tabs beside the stream and the diff: prompt, calls, mail, result and children.
import { Link } from 'wouter';
import { Button } from '../../parts/Button';
import { Code, Json } from '../../parts/Code';
import { Copy } from '../../parts/Copy';
import { At, Elapsed } from '../../parts/Elapsed';
import { Empty } from '../../parts/Empty';
import { count, money, took } from '../../parts/format';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { StateIcon, StateMark, isOver } from '../../parts/State';
import { nameOf } from '../crew/words';
import { nameOf as personOf } from '../mail/threads';
import { OutcomeMark } from '../record/OutcomeMark';
import { useAgentMail, useCalls } from './queries';
import type { AgentDetails, AgentStory } from '../../api/types';
import { about, bare } from './words';
import css from './Panes.module.css';

export function PromptPane({ story, agent }: { readonly story: AgentStory; readonly agent: AgentDetails }) {
  if (agent.prompt === null) {
    return <Empty title="Somebody else runs it">Adjutant did not start this agent, so its prompt is not available here. Its calls of Adjutant's tools are listed under “Calls”.</Empty>;
  }
  return (
    <div className={`scroll ${css.pane}`} tabIndex={0} role="region" aria-label="Prompt and context">
      <section className={css.section}>
        <h3>Prompt</h3>
        <Markdown text={agent.prompt} />
      </section>
      <section className={css.section}>
        <h3>
          Complete initial context
          {story.context !== null && <Copy text={story.context} label="copy" />}
        </h3>
        {story.context === null ? (
          <p className="mid">{agent.state === 'queued' ? 'The context is built when the agent starts: its role, the project, its task, its mail and the prompt.' : 'The context is not available: the run folder was removed, or the agent has not started yet.'}</p>
        ) : (
          <Code text={story.context} />
        )}
      </section>
    </div>
  );
}

function input(text: string): string {
  try {
    return about(JSON.parse(text));
  } catch {
    return about(text.replace(/^\{"\w+":"?/, '').slice(0, 120));
  }
}

export function CallsPane({ id }: { readonly id: string }) {
  const calls = useCalls(id);
  if (calls.error !== null) return <Problem error={calls.error} title="Its calls could not be read" onRetry={() => void calls.refetch()} />;
  if (calls.data === undefined) return <Skeleton rows={12} height={29} />;
  const rows = calls.data.pages.flatMap((page) => page.rows);
  if (rows.length === 0) return <Empty title="No calls yet">Each call of Adjutant's tools is listed here with its input, answer and duration. The agent's own tools, such as a shell, appear in the stream.</Empty>;
  return (
    <div className={`scroll ${css.rows}`}>
      {rows.map((row) => (
        <Link key={row.number} href={`/record?q=${encodeURIComponent(`agent:${id}`)}&call=${row.number}`} className={css.row}>
          <At at={row.at} seconds />
          <span className="cut">
            <span className={css.tool}>{bare(row.tool)}</span> <span className="mono dim">{input(row.input)}</span>
          </span>
          <OutcomeMark outcome={row.outcome} {...(row.code === null ? {} : { word: row.code.toLowerCase().replaceAll('_', ' ') })} />
          <span className="mono dim">{row.durationMs === null ? '' : took(row.durationMs)}</span>
        </Link>
      ))}
      {calls.hasNextPage && (
        <div className={css.more}>
          <Button small look="quiet" disabled={calls.isFetchingNextPage} onClick={() => void calls.fetchNextPage()}>
            Earlier
          </Button>
        </div>
      )}
    </div>
  );
}


export function MailPane({ id }: { readonly id: string }) {
  const mail = useAgentMail(id);
  if (mail.error !== null) return <Problem error={mail.error} title="Its mail could not be read" onRetry={() => void mail.refetch()} />;
  if (mail.data === undefined) return <Skeleton rows={6} height={44} />;
  const letters = mail.data.pages.flatMap((page) => page.letters);
  if (letters.length === 0) return <Empty title="No mail yet">Mail from and to this agent is listed here. Write to it below.</Empty>;
  return (
    <div className={`scroll ${css.rows}`}>
      {letters.map((letter) => (
        <Link key={letter.id} href={`/mail/${letter.threadId}`} className={`${css.row} ${css.letter}`}>
          <span className="cut">
            <span className={letter.needsAnswer ? 'strong' : undefined}>{letter.subject}</span>{' '}
            <span className="dim">
              {personOf(letter.from)} to {personOf(letter.to)}
            </span>
          </span>
          <At at={letter.createdAt} />
        </Link>
      ))}
      {mail.hasNextPage && (
        <div className={css.more}>
          <Button small look="quiet" disabled={mail.isFetchingNextPage} onClick={() => void mail.fetchNextPage()}>
            Earlier
          </Button>
        </div>
      )}
    </div>
  );
}

function Points({ title, points }: { readonly title: string; readonly points: readonly string[] | undefined }) {
  if (points === undefined || points.length === 0) return null;
  return (
    <section className={css.section}>
      <h3>
        {title} <span className="dim">{count(points.length)}</span>
      </h3>
      <ul className={css.list}>
        {points.map((point, at) => (
          <li key={at}>
            <Markdown text={point} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ResultPane({ agent }: { readonly agent: AgentDetails }) {
  const { result } = agent;
  if (!isOver(agent.state)) {
    return <Empty title="It is not over yet">The agent's result appears here when it ends: a summary, its changes, its issues and its questions.</Empty>;
  }
  return (
    <div className={`scroll ${css.pane}`} tabIndex={0} role="region" aria-label="Result">
      <p className={css.state}>
        <StateMark state={agent.state} pill />
        {agent.reason !== null && agent.reason !== '' && <span className="mid">{agent.reason}</span>}
      </p>
      {result?.summary !== undefined && result.summary !== '' && (
        <section className={css.section}>
          <Markdown text={result.summary} />
        </section>
      )}
      <Points title="Changed" points={result?.changes} />
      <Points title="Wrong" points={result?.issues} />
      <Points title="Wants to know" points={result?.questions} />
      {result?.structured !== undefined && result.structured !== null && (
        <section className={css.section}>
          <h3>As a value</h3>
          <Json value={result.structured} />
        </section>
      )}
      {result === null && <p className="mid">It ended without a result.</p>}
    </div>
  );
}

export function ChildrenPane({ story }: { readonly story: AgentStory }) {
  const { children, counts } = story;
  if (children.length === 0) return <Empty title="It started no agents">Agents that it starts are listed here with their activity and cost.</Empty>;
  return (
    <div className={`scroll ${css.rows}`}>
      {children.map((child) => (
        <Link key={child.id} href={`/agents/${child.id}`} className={`${css.row} ${css.child}`}>
          <StateIcon state={child.state} />
          <span className="strong">
            {nameOf(child)} <span className="mono dim">{child.short}</span>
          </span>
          <span className={`${css.doing} cut`}>{child.doing?.text ?? child.task?.title ?? ''}</span>
          <span className="dim">
            <Elapsed from={child.startedAt} to={child.finishedAt} />
          </span>
          <span>{child.costUsd === null ? '' : money(child.costUsd)}</span>
        </Link>
      ))}
      {counts.children > children.length && (
        <p className={css.strip}>
          {count(counts.children - children.length)} more stand in the <Link href="/crew">crew</Link>.
        </p>
      )}
    </div>
  );
}
