import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { matchKinds, liveEvents, useLiveEvents, useRefreshOnEvents } from '../api/live';
import { useOverview, useReadOnly } from '../api/overview';
import { setServerTime } from '../parts/clock';
import { Problem } from '../parts/Problem';
import { Skeleton } from '../parts/Skeleton';
import { Toasts, showToast } from '../parts/toast';
import { BottomBar } from './BottomBar';
import { useKeys } from '../parts/keys';
import { KeysHelp } from './KeysHelp';
import { describeChanges, showNotices } from './notify';
import { closeOverlay, openKeysHelp, openPalette, openStartAgent, useOverlay } from './overlay';
import { PAGES } from './pages';
import { Palette } from './Palette';
import { Rail } from './Rail';
import { StartAgent } from './StartAgent';
import { toggleTheme } from './theme';
import { ToolDialog } from './ToolDialog';
import css from './Shell.module.css';

function Overlays() {
  const overlay = useOverlay();
  if (overlay === null) return null;
  if (overlay.kind === 'palette') return <Palette query={overlay.query} onClose={closeOverlay} />;
  if (overlay.kind === 'tool') return <ToolDialog name={overlay.name} input={overlay.input} onClose={closeOverlay} />;
  if (overlay.kind === 'start') return <StartAgent defaults={overlay.defaults} onClose={closeOverlay} />;
  return <KeysHelp onClose={closeOverlay} />;
}

function useGlobalKeys(): void {
  const [, navigate] = useLocation();
  const readOnly = useReadOnly();
  const { data } = useOverview();
  const next = data?.needsYou[0];
  useKeys({
    'mod+k': () => openPalette(),
    '?': () => openKeysHelp(),
    t: () => toggleTheme(),
    ...(readOnly ? {} : { n: () => openStartAgent() }),
    ...(next === undefined ? {} : { 'g n': () => navigate(next.href) }),
    ...Object.fromEntries(PAGES.map((page) => [`g ${page.key}`, () => navigate(page.href)])),
  });
}

/**
 * Frame around every page. Owns the event reader, which starts at the event of the overview; pages
 * load after that, so no event is missed in between.
 */
export function Shell({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { data, error, refetch } = useOverview();
  useGlobalKeys();
  const isReady = data !== undefined;
  const startEvent = useRef(0);
  startEvent.current = data?.lastEvent ?? 0;
  useEffect(() => {
    if (!isReady) return;
    liveEvents.start(startEvent.current);
    const removeListener = liveEvents.onReset(() => void client.invalidateQueries());
    return () => {
      removeListener();
      liveEvents.stop();
    };
  }, [client, isReady]);
  useEffect(() => {
    if (data !== undefined) setServerTime(data.now);
  }, [data]);
  useRefreshOnEvents(matchKinds('agent.', 'task.', 'mail.', 'review.', 'merge.', 'config.', 'epic.'), [['overview']]);
  useLiveEvents(matchKinds('mail.', 'agent.', 'merge.', 'task.'), (batch) => showNotices(batch, navigate));
  useLiveEvents(matchKinds('config.reloaded'), (batch) => {
    for (const changes of batch.map(describeChanges)) if (changes !== null) showToast(changes);
  });
  return (
    <>
      <a href="#content" className={css.skip}>
        Skip to the page
      </a>
      <div className={css.shell}>
        <Rail />
        <div className={css.main} id="content">
          {isReady && <Suspense fallback={<Skeleton rows={14} />}>{children}</Suspense>}
          {!isReady && error === null && <Skeleton rows={14} />}
          {!isReady && error !== null && <Problem error={error} title="The page could not be loaded" onRetry={() => void refetch()} />}
        </div>
        <BottomBar />
      </div>
      <Overlays />
      <Toasts />
    </>
  );
}
