import { session, type SignedOutReason } from '../api/session';
import { Button } from '../parts/Button';
import { CopyButton } from '../parts/CopyButton';
import { Logo } from './Logo';
import css from './Login.module.css';

interface LoginMessage {
  readonly title: string;
  readonly text: string;
}

const LOGIN_MESSAGES: Readonly<Record<SignedOutReason, LoginMessage>> = {
  noLink: { title: 'This page opens with a link', text: 'Each tab needs its own link. Run this in the project:' },
  linkUsed: { title: 'This link has been used', text: 'A link works once. For a new one, run:' },
  linkExpired: { title: 'This link has expired', text: 'An operator link is valid for ten minutes, a read-only link as long as its creator chose. For a new one, run:' },
  linkUnknown: { title: 'This link does not work', text: 'It was revoked, belongs to another project, or was copied incompletely. For a new one, run:' },
  rateLimited: { title: 'Too many invalid links', text: 'Wait a few seconds and try again.' },
  unreachable: { title: 'The server does not answer', text: 'Your link has not been used. Try again, or start the server and ask for a new link:' },
  sessionExpired: { title: 'Your session has expired', text: 'Its 30 days are over, or its link was revoked. For a new link, run:' },
  loggedOut: { title: 'You are logged out', text: 'To log in again, run:' },
};

/** Shown in a tab without a token: the reason, and how to log in. Keeps the address. */
export function Login({ reason }: { readonly reason: SignedOutReason }) {
  const { title, text } = LOGIN_MESSAGES[reason];
  return (
    <main className={css.login}>
      <Logo />
      <h1>{title}</h1>
      <p className="mid">{text}</p>
      {(reason === 'rateLimited' || reason === 'unreachable') && (
        <Button variant="primary" onClick={() => void session.retryLogin()}>
          Try again
        </Button>
      )}
      {reason !== 'rateLimited' && <CopyButton text="adjutant open" />}
      {reason === 'linkUsed' && (
        <>
          <p className="dim">If you did not use it, end all sessions:</p>
          <CopyButton text="adjutant open --revoke all" />
        </>
      )}
    </main>
  );
}
