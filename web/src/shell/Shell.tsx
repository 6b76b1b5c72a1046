import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useRef, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { kinds, live, useLive, useRefresh } from '../api/live';
import { useOverview, useReadOnly } from '../api/overview';
import { setServerTime } from '../parts/clock';
import { Problem } from '../parts/Problem';
import { Skeleton } from '../parts/Skeleton';
import { Toasts, toast } from '../parts/toast';
import { BottomBar } from './BottomBar';
import { useKeys } from '../parts/keys';
import { KeysHelp } from './KeysHelp';
import { changesOf, notify } from './notify';
import { closeOverlay, openKeys, openPalette, openStart, useOverlay } from './open';
import { PAGES } from './pages';
import { Palette } from './Palette';
import { Rail } from './Rail';
import { StartAgent } from './StartAgent';
import { otherTheme } from './theme';
import { ToolDialog } from './ToolDialog';
import css from './Shell.module.css';

function Overlays() {
  const overlay = useOverlay();
  if (overlay === null) return null;
  if (overlay.kind === 'palette') return <Palette query={overlay.query} onClose={closeOverlay} />;
  if (overlay.kind === 'tool') return <ToolDialog name={overlay.name} input={overlay.input} onClose={closeOverlay} />;
  if (overlay.kind === 'start') return <StartAgent start={overlay.start} onClose={closeOverlay} />;
  return <KeysHelp onClose={closeOverlay} />;
}

function useGlobalKeys(): void {
  const [, go] = useLocation();
  const readOnly = useReadOnly();
  const { data } = useOverview();
  const next = data?.needsYou[0];
  useKeys({
    'mod+k': () => openPalette(),
    '?': () => openKeys(),
    t: () => otherTheme(),
    ...(readOnly ? {} : { n: () => openStart() }),
    ...(next === undefined ? {} : { 'g n': () => go(next.href) }),
    ...Object.fromEntries(PAGES.map((page) => [`g ${page.key}`, () => go(page.href)])),
  });
}

/**
 * Frame around every page. Owns the event reader, which starts at the event of the overview; pages
 * load after that, so no event is missed in between.
 */
export function Shell({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const { data, error, refetch } = useOverview();
  useGlobalKeys();
  const known = data !== undefined;
  const from = useRef(0);
  from.current = data?.lastEvent ?? 0;
  useEffect(() => {
    if (!known) return;
    live.start(from.current);
    const off = live.onReset(() => void client.invalidateQueries());
    return () => {
      off();
      live.stop();
    };
  }, [client, known]);
  useEffect(() => {
    if (data !== undefined) setServerTime(data.now);
  }, [data]);
  useRefresh(kinds('agent.', 'task.', 'mail.', 'review.', 'merge.', 'config.', 'epic.'), [['overview']]);
  useLive(kinds('mail.', 'agent.', 'merge.', 'task.'), (batch) => notify(batch, go));
  useLive(kinds('config.reloaded'), (batch) => {
    for (const changes of batch.map(changesOf)) if (changes !== null) toast(changes);
  });
  return (
    <>
      <a href="#content" className={css.skip}>
        Skip to the page
      </a>
      <div className={css.shell}>
        <Rail />
        <div className={css.main} id="content">
          {known && <Suspense fallback={<Skeleton rows={14} />}>{children}</Suspense>}
          {!known && error === null && <Skeleton rows={14} />}
          {!known && error !== null && <Problem error={error} title="The page cannot begin" onRetry={() => void refetch()} />}
        </div>
        <BottomBar />
      </div>
      <Overlays />
      <Toasts />
    </>
  );
}
