// Tabs beside the stream and the diff: prompt, calls, mail, result and children.
import { Link } from 'wouter';
import { Button } from '../../parts/Button';
import { Code, Json } from '../../parts/Code';
import { CopyButton } from '../../parts/CopyButton';
import { Timestamp, Elapsed } from '../../parts/Elapsed';
import { EmptyState } from '../../parts/EmptyState';
import { formatCount, formatMoney, formatLatency } from '../../parts/format';
import { Markdown } from '../../parts/Markdown';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { StateIcon, StateMark, hasEnded } from '../../parts/State';
import { getAgentName } from '../crew/agentText';
import { getPersonName as personOf } from '../mail/threads';
import { OutcomeMark } from '../record/OutcomeMark';
import { useAgentMail, useRecordedCalls } from './queries';
import type { AgentDetails, AgentStory } from '../../api/types';
import { describeCall, getToolName } from './stepText';
import css from './Panes.module.css';

export function PromptPane({ story, agent }: { readonly story: AgentStory; readonly agent: AgentDetails }) {
  if (agent.prompt === null) {
    return <EmptyState title="This agent runs elsewhere">Adjutant did not start this agent, so its prompt is not available here. Its calls of Adjutant's tools are listed under “Calls”.</EmptyState>;
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
          {story.context !== null && <CopyButton text={story.context} label="Copy" />}
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

function summarizeInputText(text: string): string {
  try {
    return describeCall(JSON.parse(text));
  } catch {
    return describeCall(text.replace(/^\{"\w+":"?/, '').slice(0, 120));
  }
}

export function CallsPane({ id }: { readonly id: string }) {
  const calls = useRecordedCalls(id);
  if (calls.error !== null) return <Problem error={calls.error} title="The calls could not be read" onRetry={() => void calls.refetch()} />;
  if (calls.data === undefined) return <Skeleton rows={12} height={29} />;
  const rows = calls.data.pages.flatMap((page) => page.rows);
  if (rows.length === 0) return <EmptyState title="No calls yet">Each call of Adjutant's tools is listed here with its input, answer and duration. The agent's own tools, such as a shell, appear in the stream.</EmptyState>;
  return (
    <div className={`scroll ${css.rows}`}>
      {rows.map((row) => (
        <Link key={row.number} href={`/record?q=${encodeURIComponent(`agent:${id}`)}&call=${row.number}`} className={css.row}>
          <Timestamp at={row.at} seconds />
          <span className="cut">
            <span className={css.tool}>{getToolName(row.tool)}</span> <span className="mono dim">{summarizeInputText(row.input)}</span>
          </span>
          <OutcomeMark outcome={row.outcome} {...(row.code === null ? {} : { label: row.code.toLowerCase().replaceAll('_', ' ') })} />
          <span className="mono dim">{row.durationMs === null ? '' : formatLatency(row.durationMs)}</span>
        </Link>
      ))}
      {calls.hasNextPage && (
        <div className={css.more}>
          <Button small variant="quiet" disabled={calls.isFetchingNextPage} onClick={() => void calls.fetchNextPage()}>
            Load earlier
          </Button>
        </div>
      )}
    </div>
  );
}


export function MailPane({ id }: { readonly id: string }) {
  const mail = useAgentMail(id);
  if (mail.error !== null) return <Problem error={mail.error} title="The mail could not be read" onRetry={() => void mail.refetch()} />;
  if (mail.data === undefined) return <Skeleton rows={6} height={44} />;
  const items = mail.data.pages.flatMap((page) => page.letters);
  if (items.length === 0) return <EmptyState title="No mail yet">Mail from and to this agent is listed here. Write to it below.</EmptyState>;
  return (
    <div className={`scroll ${css.rows}`}>
      {items.map((item) => (
        <Link key={item.id} href={`/mail/${item.threadId}`} className={`${css.row} ${css.mail}`}>
          <span className="cut">
            <span className={item.needsAnswer ? 'strong' : undefined}>{item.subject}</span>{' '}
            <span className="dim">
              {personOf(item.from)} to {personOf(item.to)}
            </span>
          </span>
          <Timestamp at={item.createdAt} />
        </Link>
      ))}
      {mail.hasNextPage && (
        <div className={css.more}>
          <Button small variant="quiet" disabled={mail.isFetchingNextPage} onClick={() => void mail.fetchNextPage()}>
            Load earlier
          </Button>
        </div>
      )}
    </div>
  );
}

function PointList({ title, points }: { readonly title: string; readonly points: readonly string[] | undefined }) {
  if (points === undefined || points.length === 0) return null;
  return (
    <section className={css.section}>
      <h3>
        {title} <span className="dim">{formatCount(points.length)}</span>
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
  if (!hasEnded(agent.state)) {
    return <EmptyState title="This agent has not ended">The agent's result appears here when it ends: a summary, its changes, its issues and its questions.</EmptyState>;
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
      <PointList title="Changes" points={result?.changes} />
      <PointList title="Issues" points={result?.issues} />
      <PointList title="Questions" points={result?.questions} />
      {result?.structured !== undefined && result.structured !== null && (
        <section className={css.section}>
          <h3>Structured result</h3>
          <Json value={result.structured} />
        </section>
      )}
      {result === null && <p className="mid">The agent ended without a result.</p>}
    </div>
  );
}

export function ChildrenPane({ story }: { readonly story: AgentStory }) {
  const { children, counts } = story;
  if (children.length === 0) return <EmptyState title="No child agents">Agents that it starts are listed here with their activity and cost.</EmptyState>;
  return (
    <div className={`scroll ${css.rows}`}>
      {children.map((child) => (
        <Link key={child.id} href={`/agents/${child.id}`} className={`${css.row} ${css.child}`}>
          <StateIcon state={child.state} />
          <span className="strong">
            {getAgentName(child)} <span className="mono dim">{child.short}</span>
          </span>
          <span className={`${css.doing} cut`}>{child.doing?.text ?? child.task?.title ?? ''}</span>
          <span className="dim">
            <Elapsed from={child.startedAt} to={child.finishedAt} />
          </span>
          <span>{child.costUsd === null ? '' : formatMoney(child.costUsd)}</span>
        </Link>
      ))}
      {counts.children > children.length && (
        <p className={css.strip}>
          {formatCount(counts.children - children.length)} more are in the <Link href="/crew">crew</Link>.
        </p>
      )}
    </div>
  );
}
