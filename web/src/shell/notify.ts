// Browser notifications about mail, approvals and failures, while the page is in the background.
import { useSyncExternalStore } from 'react';
import type { LiveEvent } from '../api/live';
import type { AgentState } from '../api/types';

const SETTING = 'adjutant.notify';
/** Limit of changes named in one message. */
const SHOWN_CHANGES = 3;

export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly href: string;
  /** Notices with equal tags replace each other. */
  readonly tag: string;
}

const ENDS: Partial<Record<AgentState, string>> = { failed: 'failed', timed_out: 'timed out', over_budget: 'is over budget', lost: 'was lost' };

/** Builds the notification for an event; null if it needs none. */
export function noticeOf(event: LiveEvent): Notice | null {
  const tag = `adjutant-${event.number}`;
  switch (event.kind) {
    case 'mail.sent': {
      const { isForHuman, subject, mailId } = event.data;
      return isForHuman ? { title: 'Mail for you', body: subject, href: `/mail/${mailId}`, tag } : null;
    }
    case 'agent.finished': {
      const { state, reason, role = 'agent' } = event.data;
      const end = ENDS[state];
      return end === undefined ? null : { title: `${role} ${end}`, body: reason, href: `/agents/${event.agentId ?? ''}`, tag };
    }
    case 'merge.changed': {
      const { state, reason, branch } = event.data;
      if (state !== 'held' && state !== 'sent_back') return null;
      const title = state === 'held' ? 'Approved work is held' : 'Approved work was sent back';
      return { title, body: reason ?? branch, href: '/reviews', tag };
    }
    case 'task.updated': {
      const { from, to, number, slug } = event.data;
      if (to !== 'review' || from === 'review') return null;
      return { title: 'Work waits for approval', body: `TAS-${number} ${slug}`, href: '/reviews', tag };
    }
    default:
      return null;
  }
}

/** Describes changed settings; null if nothing changed. */
export function changesOf(event: LiveEvent): string | null {
  const changes = event.kind === 'config.reloaded' ? (event.data.changes ?? []) : [];
  if (changes.length === 0) return null;
  const more = changes.length - SHOWN_CHANGES;
  return `Changed settings were read: ${changes.slice(0, SHOWN_CHANGES).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

const watchers = new Set<() => void>();
const supported = typeof Notification !== 'undefined';

function isOn(): boolean {
  return supported && Notification.permission === 'granted' && localStorage.getItem(SETTING) === 'on';
}

/** State of notifications; `blocked` if the browser forbids them. */
export function useNotifications(): 'on' | 'off' | 'blocked' {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => (isOn() ? 'on' : !supported || Notification.permission === 'denied' ? 'blocked' : 'off'),
  );
}

/** Turns notifications on, after asking the browser, or off. */
export async function toggleNotifications(): Promise<void> {
  if (isOn()) localStorage.setItem(SETTING, 'off');
  else if (supported && (await Notification.requestPermission()) === 'granted') localStorage.setItem(SETTING, 'on');
  for (const watcher of watchers) watcher();
}

/** Shows the notifications of a batch; joins many into one. */
export function notify(batch: readonly LiveEvent[], go: (href: string) => void): void {
  if (!isOn() || document.visibilityState === 'visible') return;
  const notices = batch.map(noticeOf).filter((notice) => notice !== null);
  const [first] = notices;
  if (first === undefined) return;
  const shown =
    notices.length <= 3 ? notices : [{ ...first, title: `${notices.length} things need you`, body: notices.map((one) => one.title).join(', '), href: '/crew' }];
  for (const notice of shown) {
    const note = new Notification(notice.title, { body: notice.body, tag: notice.tag, icon: '/icon.svg' });
    note.onclick = () => {
      window.focus();
      go(notice.href);
      note.close();
    };
  }
}
