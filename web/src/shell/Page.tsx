import { useEffect, type ReactNode } from 'react';
import { useOverview } from '../api/overview';
import { StatusStrip } from './StatusStrip';
import { TopBar } from './TopBar';
import css from './Page.module.css';

interface Props {
  /** Title of the browser tab. */
  readonly name: string;
  /** Replaces the name in the bar. */
  readonly title?: ReactNode;
  readonly children: ReactNode;
}

/** Frame of a page. The tab's title counts the unread mail. */
export function Page({ name, title, children }: Props) {
  const unread = useOverview().data?.mail.unread ?? 0;
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${name} · Adjutant`;
  }, [name, unread]);
  return (
    <main className={css.page}>
      <TopBar title={title ?? name} />
      <StatusStrip />
      {children}
    </main>
  );
}
