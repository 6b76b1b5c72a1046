// Notifications of the browser: mail to the human, approvals that wait, and what failed. Only while the page is not looked at.
import { useSyncExternalStore } from 'react';
import type { LiveEvent } from '../api/live';

const SETTING = 'adjutant.notify';
/** So many changes of settings fit into a few words. */
const SHOWN_CHANGES = 3;

export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly href: string;
  /** Two with the same tag are one. */
  readonly tag: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What a person should hear of an event, if anything. */
export function noticeOf(event: LiveEvent): Notice | null {
  const { kind, data, agentId } = event;
  const tag = `adjutant-${event.number}`;
  if (kind === 'mail.sent' && data['isForHuman'] === true) {
    return { title: 'Mail for you', body: text(data['subject']), href: `/mail/${text(data['mailId'])}`, tag };
  }
  if (kind === 'agent.finished' && ['failed', 'timed_out', 'over_budget', 'lost'].includes(text(data['state']))) {
    const word = { failed: 'failed', timed_out: 'timed out', over_budget: 'is over budget', lost: 'was lost' }[text(data['state'])];
    return { title: `${text(data['role'])} ${word}`, body: text(data['reason']), href: `/agents/${agentId ?? ''}`, tag };
  }
  if (kind === 'merge.changed' && ['held', 'sent_back'].includes(text(data['state']))) {
    const word = data['state'] === 'held' ? 'Approved work is held' : 'Approved work was sent back';
    return { title: word, body: text(data['reason']) || text(data['branch']), href: '/reviews', tag };
  }
  if (kind === 'task.updated' && text(data['state']) === 'review') {
    return { title: 'Work waits for approval', body: text(data['title']) || text(data['slug']), href: '/reviews', tag };
  }
  return null;
}

/** What changed settings say to whoever looks at the page; nothing where they only were read again. */
export function changesOf(event: LiveEvent): string | null {
  const changes = event.kind === 'config.reloaded' ? event.data['changes'] : undefined;
  if (!Array.isArray(changes) || changes.length === 0) return null;
  const more = changes.length - SHOWN_CHANGES;
  const shown = changes.slice(0, SHOWN_CHANGES).map(text).join('; ');
  return `Changed settings were read: ${shown}${more > 0 ? `; and ${more} more` : ''}`;
}

const watchers = new Set<() => void>();
const supported = typeof Notification !== 'undefined';

function isOn(): boolean {
  return supported && Notification.permission === 'granted' && localStorage.getItem(SETTING) === 'on';
}

/** Whether notifications are shown; `blocked` where the browser forbids them. */
export function useNotifications(): 'on' | 'off' | 'blocked' {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => (isOn() ? 'on' : !supported || Notification.permission === 'denied' ? 'blocked' : 'off'),
  );
}

/** Turns notifications on, asking the browser first, or off. */
export async function toggleNotifications(): Promise<void> {
  if (isOn()) localStorage.setItem(SETTING, 'off');
  else if (supported && (await Notification.requestPermission()) === 'granted') localStorage.setItem(SETTING, 'on');
  for (const watcher of watchers) watcher();
}

/** Shows what of a batch is worth it; many at once become one. */
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
