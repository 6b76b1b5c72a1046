import { useEffect, type ReactNode } from 'react';
import { useOverview } from '../api/overview';
import { Strip } from './Strip';
import { TopBar } from './TopBar';
import css from './Page.module.css';

interface Props {
  /** What the tab is called. */
  readonly name: string;
  /** What stands at the left of the bar, where that is more than the name. */
  readonly title?: ReactNode;
  readonly children: ReactNode;
}

/** A page in its frame. The count of unread mail stands in the tab's title. */
export function Page({ name, title, children }: Props) {
  const unread = useOverview().data?.mail.unread ?? 0;
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${name} · Adjutant`;
  }, [name, unread]);
  return (
    <main className={css.page}>
      <TopBar title={title ?? name} />
      <Strip />
      {children}
    </main>
  );
}
