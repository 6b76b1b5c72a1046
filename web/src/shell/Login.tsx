import { session, type Absence } from '../api/session';
import { Button } from '../parts/Button';
import { Copy } from '../parts/Copy';
import { Logo } from './Logo';
import css from './Login.module.css';

interface Words {
  readonly title: string;
  readonly text: string;
}

const WORDS: Readonly<Record<Absence, Words>> = {
  none: { title: 'This page opens with a link', text: 'Each tab needs its own link. Run this in the project:' },
  used: { title: 'This link has been used', text: 'A link works once. For a new one, run:' },
  late: { title: 'This link has ended', text: 'An operator link is valid for ten minutes, a read-only link as long as its creator chose. For a new one, run:' },
  unknown: { title: 'This link does not work', text: 'It was revoked, belongs to another project, or was copied incompletely. For a new one, run:' },
  busy: { title: 'Too many invalid links', text: 'Wait a few seconds and try again.' },
  away: { title: 'The server does not answer', text: 'Your link is not used yet. Try again, or start the server and ask for a new link:' },
  ended: { title: 'Your session has expired', text: 'Its 30 days are over, or its link was revoked. For a new link, run:' },
  left: { title: 'You are logged out', text: 'The token of this tab is void. To come back, run:' },
};

/** Shown in a tab without a token: the reason, and how to log in. Keeps the address. */
export function Login({ absence }: { readonly absence: Absence }) {
  const { title, text } = WORDS[absence];
  return (
    <main className={css.login}>
      <Logo />
      <h1>{title}</h1>
      <p className="mid">{text}</p>
      {(absence === 'busy' || absence === 'away') && (
        <Button look="primary" onClick={() => void session.again()}>
          Try again
        </Button>
      )}
      {absence !== 'busy' && <Copy text="adjutant open" />}
      {absence === 'used' && (
        <>
          <p className="dim">If you did not use it, end all sessions:</p>
          <Copy text="adjutant open --revoke all" />
        </>
      )}
    </main>
  );
}
