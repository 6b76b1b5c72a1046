import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation, useParams } from 'wouter';
import { useQueryClient } from '@tanstack/react-query';
import { useReadOnly } from '../../api/overview';
import type { DiffView } from '../../parts/diff/rows';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { SplitPane } from '../../parts/SplitPane';
import { hasEnded } from '../../parts/State';
import { Tabs, type Tab } from '../../parts/Tabs';
import { useKeys } from '../../parts/keys';
import { Page } from '../../shell/Page';
import { useParam } from '../../shell/url';
import { AgentDialog } from '../crew/AgentDialog';
import { buildMailLink, type AgentAction } from '../crew/Dock';
import { useLayoutWidth } from '../../parts/media';
import { getAllowedActions, getAgentName } from '../crew/agentText';
import { Composer } from './Composer';
import { DiffSummary, DiffPane } from './DiffPane';
import { Breadcrumbs, AgentFacts, AgentHeader } from './AgentHeader';
import { WaitingStatus } from './WaitingStatus';
import { CallsPane, ChildrenPane, MailPane, PromptPane, ResultPane } from './Panes';
import { useAgent, useAgentEvents, useDiff, useStory, useStream } from './queries';
import type { AgentDetails, AgentStory } from '../../api/types';
import { FollowButton, Stream, type FollowState } from './Stream';
import { Timeline } from './Timeline';
import css from './AgentPage.module.css';

type LeftTab = 'stream' | 'prompt' | 'calls' | 'mail';
type RightTab = 'diff' | 'result' | 'children';
type TabName = LeftTab | RightTab;

interface AgentViewProps {
  readonly story: AgentStory;
  readonly agent: AgentDetails;
}

/** Content of all tabs, by name. */
function usePanes({ story, agent }: AgentViewProps, isPhone: boolean) {
  const { id } = agent;
  const isEnded = hasEnded(agent.state);
  const { reader, state } = useStream(id, agent.attempt, agent.kind);
  const [isOn, setIsOn] = useState(true);
  const following: FollowState = { isOn, setIsOn };
  const diff = useDiff(id, isEnded);
  const [view, setView] = useParam<DiffView>('diff', 'unified');
  const name = `${getAgentName(story.row)} ${story.row.short}`;
  const emptyText = 'Messages, calls and program output appear here as they arrive.';
  const renderTab = (tab: TabName): ReactNode => {
    switch (tab) {
      case 'stream':
        if (agent.kind === 'enlisted') {
          return <EmptyState title="This agent runs elsewhere">Its output is not available here. Its calls of Adjutant's tools are listed under “Calls”.</EmptyState>;
        }
        return <Stream id={id} name={name} start={agent.startedAt} reader={reader} state={state} following={following} footer={<WaitingStatus row={story.row} />} emptyText={emptyText} />;
      case 'prompt':
        return <PromptPane story={story} agent={agent} />;
      case 'calls':
        return <CallsPane id={id} />;
      case 'mail':
        return <MailPane id={id} />;
      case 'diff':
        return <DiffPane query={diff} view={isPhone ? 'unified' : view} />;
      case 'result':
        return <ResultPane agent={agent} />;
      case 'children':
        return <ChildrenPane story={story} />;
    }
  };
  const renderAside = (tab: TabName): ReactNode => {
    if (tab === 'stream' && agent.kind !== 'enlisted') return <FollowButton following={following} open={state.isOpen} />;
    return tab === 'diff' && !isPhone ? <DiffSummary diff={diff.data} view={view} onView={setView} /> : null;
  };
  const files = diff.data?.files.length;
  const leftTabs: readonly Tab<LeftTab>[] = [
    { value: 'stream', label: 'Stream' },
    { value: 'prompt', label: 'Prompt and context' },
    { value: 'calls', label: 'Calls', count: story.counts.calls },
    { value: 'mail', label: 'Mail', count: story.counts.mail },
  ];
  const rightTabs: readonly Tab<RightTab>[] = [
    { value: 'diff', label: 'Diff', count: files === 0 ? undefined : files },
    { value: 'result', label: 'Result' },
    { value: 'children', label: 'Children', count: story.counts.children },
  ];
  return { draw: renderTab, aside: renderAside, left: leftTabs, right: rightTabs, commits: diff.data?.commits ?? [] };
}

function AgentBody({ story, agent }: AgentViewProps) {
  const readOnly = useReadOnly();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const isPhone = useLayoutWidth() === 'phone';
  const panes = usePanes({ story, agent }, isPhone);
  const [tab, setTab] = useParam<TabName>('tab', 'stream');
  const [side, setSide] = useParam<RightTab>('side', hasEnded(agent.state) && agent.worktree === null ? 'result' : 'diff');
  const [action, setAction] = useState<AgentAction | null>(null);
  // Action requested by the palette through the address. It is removed, so that a reload does not
  // repeat it.
  const [requestedAction, setRequestedAction] = useParam('do', '');
  useEffect(() => {
    if (requestedAction === '') return;
    setRequestedAction('');
    if (requestedAction === 'kill' && !readOnly && !hasEnded(agent.state)) setAction('kill');
  }, [requestedAction, setRequestedAction, readOnly, agent.state]);
  const field = useRef<HTMLTextAreaElement>(null);
  const allowed = getAllowedActions(story.row);
  const refresh = useCallback(() => void client.invalidateQueries({ queryKey: ['agents', agent.id] }), [client, agent.id]);
  useKeys({
    Escape: () => navigate('/crew'),
    ...(allowed.attach ? { a: () => setAction('attach') } : {}),
    ...(readOnly ? {} : { m: () => navigate(buildMailLink(story.row)), c: () => field.current?.focus() }),
    ...(!readOnly && allowed.kill ? { x: () => setAction('kill'), X: () => setAction('kill') } : {}),
  });
  const leftTab = panes.left.some((one) => one.value === tab) ? tab : isPhone ? tab : 'stream';
  const composer = readOnly ? null : <Composer row={story.row} field={field} onSent={refresh} />;
  const showsComposer = leftTab === 'stream' || leftTab === 'mail';
  const leftPane = (
    <div className={css.left}>
      <div className={css.tabs}>
        <Tabs label="Activity" value={leftTab} tabs={isPhone ? [...panes.left, ...panes.right] : panes.left} onChange={setTab} aside={panes.aside(leftTab)}>
          {panes.draw(leftTab)}
        </Tabs>
      </div>
      {showsComposer && composer}
    </div>
  );
  return (
    <>
      <AgentHeader story={story} agent={agent} onAction={setAction} />
      <AgentFacts story={story} agent={agent} />
      <Timeline story={story} commits={panes.commits} />
      <div className={css.body}>
        {isPhone ? (
          leftPane
        ) : (
          <SplitPane name="agent" initialShare={0.5} label="Stream and diff">
            {leftPane}
            <Tabs label="Outcome" value={side} tabs={panes.right} onChange={setSide} aside={panes.aside(side)}>
              {panes.draw(side)}
            </Tabs>
          </SplitPane>
        )}
      </div>
      {action !== null && <AgentDialog action={action} row={story.row} onClose={() => setAction(null)} onDone={refresh} />}
    </>
  );
}

function LoadedAgent({ agent }: { readonly agent: AgentDetails }) {
  const story = useStory(agent.id, hasEnded(agent.state));
  useAgentEvents(agent.id);
  const name = `${agent.role} ${agent.id.slice(-5)}`;
  return (
    <Page name={name} title={<Breadcrumbs story={story.data} agent={agent} />}>
      {story.data !== undefined ? (
        <AgentBody story={story.data} agent={agent} />
      ) : story.error === null ? (
        <Skeleton rows={16} />
      ) : (
        <Problem error={story.error} title={`The history of ${name} could not be read`} onRetry={() => void story.refetch()} />
      )}
    </Page>
  );
}

export default function AgentPage() {
  const { id = '' } = useParams<{ id: string }>();
  const agent = useAgent(id);
  // The key discards the state of the previous agent.
  if (agent.data !== undefined) return <LoadedAgent key={agent.data.id} agent={agent.data} />;
  return (
    <Page name="Agent">
      {agent.error === null ? <Skeleton rows={16} /> : <Problem error={agent.error} title="This agent could not be read" onRetry={() => void agent.refetch()} />}
    </Page>
  );
}
