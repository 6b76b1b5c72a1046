// Notification settings of this browser and of Slack.
import { Button } from '../../parts/Button';
import { toggleNotifications, useNotificationState } from '../../shell/notify';
import { KeysForm, type FormState } from './KeysForm';
import type { KeyView } from '../../api/types';
import css from './Simple.module.css';

const STATE_TEXTS = {
  on: 'This browser notifies you of mail, pending approvals and failures while the page is in the background.',
  off: 'This browser shows no notifications.',
  blocked: 'This browser does not allow notifications for this page. Allow them in its settings for this site first.',
} as const;

export function NotificationsPart({ keys, form }: { readonly keys: readonly KeyView[]; readonly form: FormState }) {
  const state = useNotificationState();
  return (
    <div className={css.part}>
      <section className={css.block} aria-label="This browser">
        <h3>This browser</h3>
        <p className="mid">{STATE_TEXTS[state]}</p>
        {state !== 'blocked' && <Button onClick={() => void toggleNotifications()}>{state === 'on' ? 'Turn off' : 'Turn on'}</Button>}
      </section>
      <KeysForm keys={keys} part="notifications" form={form} />
    </div>
  );
}
