// Browser notifications about mail, approvals and failures, while the page is in the background.
import { useSyncExternalStore } from 'react';
import type { LiveEvent } from '../api/live';
import type { AgentState } from '../api/types';

const NOTIFY_STORAGE_KEY = 'adjutant.notify';
/** Limit of changes named in one message. */
const MAX_SHOWN_CHANGES = 3;

export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly href: string;
  /** Notices with equal tags replace each other. */
  readonly tag: string;
}

const FAILURE_WORDS: Partial<Record<AgentState, string>> = { failed: 'failed', timed_out: 'timed out', over_budget: 'is over budget', lost: 'was lost' };

/** Builds the notification for an event; null if it needs none. */
export function buildNotice(event: LiveEvent): Notice | null {
  const tag = `adjutant-${event.number}`;
  switch (event.kind) {
    case 'mail.sent': {
      const { isForHuman, subject, mailId } = event.data;
      return isForHuman ? { title: 'Mail for you', body: subject, href: `/mail/${mailId}`, tag } : null;
    }
    case 'agent.finished': {
      const { state, reason, role = 'agent' } = event.data;
      const end = FAILURE_WORDS[state];
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
export function describeChanges(event: LiveEvent): string | null {
  const changes = event.kind === 'config.reloaded' ? (event.data.changes ?? []) : [];
  if (changes.length === 0) return null;
  const hiddenCount = changes.length - MAX_SHOWN_CHANGES;
  return `Settings changed: ${changes.slice(0, MAX_SHOWN_CHANGES).join('; ')}${hiddenCount > 0 ? `; and ${hiddenCount} more` : ''}`;
}

const subscribers = new Set<() => void>();
const isSupported = typeof Notification !== 'undefined';

function areNotificationsOn(): boolean {
  return isSupported && Notification.permission === 'granted' && localStorage.getItem(NOTIFY_STORAGE_KEY) === 'on';
}

/** State of notifications; `blocked` if the browser forbids them. */
export function useNotificationState(): 'on' | 'off' | 'blocked' {
  return useSyncExternalStore(
    (subscriber) => {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    () => (areNotificationsOn() ? 'on' : !isSupported || Notification.permission === 'denied' ? 'blocked' : 'off'),
  );
}

/** Turns notifications on, after asking the browser, or off. */
export async function toggleNotifications(): Promise<void> {
  if (areNotificationsOn()) localStorage.setItem(NOTIFY_STORAGE_KEY, 'off');
  else if (isSupported && (await Notification.requestPermission()) === 'granted') localStorage.setItem(NOTIFY_STORAGE_KEY, 'on');
  for (const subscriber of subscribers) subscriber();
}

/** Shows the notifications of a batch; joins many into one. */
export function showNotices(batch: readonly LiveEvent[], navigate: (href: string) => void): void {
  if (!areNotificationsOn() || document.visibilityState === 'visible') return;
  const notices = batch.map(buildNotice).filter((notice) => notice !== null);
  const [first] = notices;
  if (first === undefined) return;
  const shown =
    notices.length <= 3 ? notices : [{ ...first, title: `${notices.length} things need you`, body: notices.map((one) => one.title).join(', '), href: '/crew' }];
  for (const notice of shown) {
    const notification = new Notification(notice.title, { body: notice.body, tag: notice.tag, icon: '/icon.svg' });
    notification.onclick = () => {
      window.focus();
      navigate(notice.href);
      notification.close();
    };
  }
}
