import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation, useParams } from 'wouter';
import { useQueryClient } from '@tanstack/react-query';
import { useReadOnly } from '../../api/overview';
import type { View } from '../../parts/diff/rows';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { Split } from '../../parts/Split';
import { isOver } from '../../parts/State';
import { Tabs, type Tab } from '../../parts/Tabs';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { Asks } from '../crew/Asks';
import { mailTo, type Asking } from '../crew/Dock';
import { useRoom } from '../../parts/media';
import { actsOf, nameOf } from '../crew/words';
import { Composer } from './Composer';
import { DiffAside, DiffPane } from './DiffPane';
import { Crumbs, Facts, Head } from './Head';
import { Now } from './Now';
import { CallsPane, ChildrenPane, MailPane, PromptPane, ResultPane } from './Panes';
import { useAgent, useAgentEvents, useDiff, useStory, useStream } from './queries';
import type { AgentDetails, AgentStory } from '../../api/types';
import { FollowButton, Stream, type Following } from './Stream';
import { Timeline } from './Timeline';
import css from './AgentPage.module.css';

type Left = 'stream' | 'prompt' | 'calls' | 'mail';
type Right = 'diff' | 'result' | 'children';
type Name = Left | Right;

interface Shown {
  readonly story: AgentStory;
  readonly agent: AgentDetails;
}

/** Content of all tabs, by name. */
function usePanes({ story, agent }: Shown, narrow: boolean) {
  const { id } = agent;
  const over = isOver(agent.state);
  const { reader, reading } = useStream(id, agent.attempt, agent.kind);
  const [on, setOn] = useState(true);
  const following: Following = { on, set: setOn };
  const diff = useDiff(id, over);
  const [view, setView] = useParam<View>('diff', 'unified');
  const name = `${nameOf(story.row)} ${story.row.short}`;
  const teach = 'Messages, calls and program output appear here as they arrive.';
  const draw = (tab: Name): ReactNode => {
    switch (tab) {
      case 'stream':
        if (agent.kind === 'enlisted') {
          return <Empty title="Somebody else runs it">Its output is not available here. Its calls of Adjutant's tools are listed under “Calls”.</Empty>;
        }
        return <Stream id={id} name={name} start={agent.startedAt} reader={reader} reading={reading} following={following} now={<Now row={story.row} />} teach={teach} />;
      case 'prompt':
        return <PromptPane story={story} agent={agent} />;
      case 'calls':
        return <CallsPane id={id} />;
      case 'mail':
        return <MailPane id={id} />;
      case 'diff':
        return <DiffPane query={diff} view={narrow ? 'unified' : view} />;
      case 'result':
        return <ResultPane agent={agent} />;
      case 'children':
        return <ChildrenPane story={story} />;
    }
  };
  const aside = (tab: Name): ReactNode => {
    if (tab === 'stream' && agent.kind !== 'enlisted') return <FollowButton following={following} open={reading.open} />;
    return tab === 'diff' && !narrow ? <DiffAside diff={diff.data} view={view} onView={setView} /> : null;
  };
  const files = diff.data?.files.length;
  const left: readonly Tab<Left>[] = [
    { value: 'stream', label: 'Stream' },
    { value: 'prompt', label: 'Prompt and context' },
    { value: 'calls', label: 'Calls', count: story.counts.calls },
    { value: 'mail', label: 'Mail', count: story.counts.mail },
  ];
  const right: readonly Tab<Right>[] = [
    { value: 'diff', label: 'Diff', count: files === 0 ? undefined : files },
    { value: 'result', label: 'Result' },
    { value: 'children', label: 'Children', count: story.counts.children },
  ];
  return { draw, aside, left, right, commits: diff.data?.commits ?? [] };
}

function Body({ story, agent }: Shown) {
  const readOnly = useReadOnly();
  const client = useQueryClient();
  const [, go] = useLocation();
  const narrow = useRoom() === 'phone';
  const panes = usePanes({ story, agent }, narrow);
  const [tab, setTab] = useParam<Name>('tab', 'stream');
  const [side, setSide] = useParam<Right>('side', isOver(agent.state) && agent.worktree === null ? 'result' : 'diff');
  const [asking, setAsking] = useState<Asking | null>(null);
  // Action requested by the palette through the address. It is removed, so that a reload does not
  // repeat it.
  const [wish, setWish] = useParam('do', '');
  useEffect(() => {
    if (wish === '') return;
    setWish('');
    if (wish === 'kill' && !readOnly && !isOver(agent.state)) setAsking('kill');
  }, [wish, setWish, readOnly, agent.state]);
  const field = useRef<HTMLTextAreaElement>(null);
  const acts = actsOf(story.row);
  const refresh = useCallback(() => void client.invalidateQueries({ queryKey: ['agents', agent.id] }), [client, agent.id]);
  useKeys({
    Escape: () => go('/crew'),
    ...(acts.attach ? { a: () => setAsking('attach') } : {}),
    ...(readOnly ? {} : { m: () => go(mailTo(story.row)), c: () => field.current?.focus() }),
    ...(!readOnly && acts.kill ? { x: () => setAsking('kill'), X: () => setAsking('kill') } : {}),
  });
  const left = panes.left.some((one) => one.value === tab) ? tab : narrow ? tab : 'stream';
  const composer = readOnly ? null : <Composer row={story.row} field={field} onSent={refresh} />;
  const writes = left === 'stream' || left === 'mail';
  const first = (
    <div className={css.left}>
      <div className={css.tabs}>
        <Tabs label="What it does" value={left} tabs={narrow ? [...panes.left, ...panes.right] : panes.left} onChange={setTab} aside={panes.aside(left)}>
          {panes.draw(left)}
        </Tabs>
      </div>
      {writes && composer}
    </div>
  );
  return (
    <>
      <Head story={story} agent={agent} onAsk={setAsking} />
      <Facts story={story} agent={agent} />
      <Timeline story={story} commits={panes.commits} />
      <div className={css.body}>
        {narrow ? (
          first
        ) : (
          <Split name="agent" first={0.5} label="Stream and diff">
            {first}
            <Tabs label="What came of it" value={side} tabs={panes.right} onChange={setSide} aside={panes.aside(side)}>
              {panes.draw(side)}
            </Tabs>
          </Split>
        )}
      </div>
      {asking !== null && <Asks what={asking} row={story.row} onClose={() => setAsking(null)} onDone={refresh} />}
    </>
  );
}

function Loaded({ agent }: { readonly agent: AgentDetails }) {
  const story = useStory(agent.id, isOver(agent.state));
  useAgentEvents(agent.id);
  const name = `${agent.role} ${agent.id.slice(-5)}`;
  return (
    <Page name={name} title={<Crumbs story={story.data} agent={agent} />}>
      {story.data !== undefined ? (
        <Body story={story.data} agent={agent} />
      ) : story.error === null ? (
        <Skeleton rows={16} />
      ) : (
        <Problem error={story.error} title={`The story of ${name} could not be read`} onRetry={() => void story.refetch()} />
      )}
    </Page>
  );
}

export default function AgentPage() {
  const { id = '' } = useParams<{ id: string }>();
  const agent = useAgent(id);
  // The key discards the state of the previous agent.
  if (agent.data !== undefined) return <Loaded key={agent.data.id} agent={agent.data} />;
  return (
    <Page name="Agent">
      {agent.error === null ? <Skeleton rows={16} /> : <Problem error={agent.error} title="This agent could not be read" onRetry={() => void agent.refetch()} />}
    </Page>
  );
}
