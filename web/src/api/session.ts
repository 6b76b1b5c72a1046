// The tab's login session: exchanges the code of a link for a token and sends it as a header. The
// token stays in this tab. A cookie would also be sent to other ports of the machine, where agents
// run servers.

const TOKEN_STORAGE_KEY = 'adjutant.token';
/** Key of the address that was open when the session expired. */
const RETURN_PATH_STORAGE_KEY = 'adjutant.back';

/**
 * Reason for the missing token. `noLink`: the visitor came without a link. `linkUsed`,
 * `linkExpired`, `linkUnknown`: the link was rejected. `rateLimited`, `unreachable`: the link was
 * not checked and can be retried. `sessionExpired`: the token is void. `loggedOut`: the visitor
 * logged out.
 */
export type SignedOutReason =
  | 'noLink' | 'linkUsed' | 'linkExpired' | 'linkUnknown' | 'rateLimited' | 'unreachable' | 'sessionExpired' | 'loggedOut';

export interface SessionState {
  readonly token: string | null;
  readonly signedOutReason: SignedOutReason;
}

type Listener = () => void;

/** Returns the string at a path inside a response body. */
function readText(body: unknown, ...path: readonly string[]): string | null {
  let value = body;
  for (const name of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof value === 'string' ? value : null;
}

/** Maps a rejected login to its reason. */
function getLoginFailure(status: number, body: unknown): SignedOutReason {
  if (status === 429) return 'rateLimited';
  const reason = readText(body, 'details', 'reason');
  if (reason === 'used') return 'linkUsed';
  return reason === 'ended' ? 'linkExpired' : 'linkUnknown';
}

export class Session {
  #state: SessionState = { token: sessionStorage.getItem(TOKEN_STORAGE_KEY), signedOutReason: 'noLink' };
  /** Login code that the server has not checked yet. */
  #pendingCode: string | null = null;
  readonly #listeners = new Set<Listener>();

  getState = (): SessionState => this.#state;

  getToken(): string | null {
    return this.#state.token;
  }

  /**
   * Logs in with the link in the address, and with every link pasted later, which loads no page.
   */
  async start(): Promise<void> {
    addEventListener('hashchange', () => void this.logInFromAddress());
    await this.logInFromAddress();
  }

  /** Exchanges the code in the address for a token, and removes it from the address. */
  async logInFromAddress(): Promise<void> {
    const code = new URLSearchParams(location.hash.slice(1)).get('login');
    if (code === null) return;
    history.replaceState(history.state, '', location.pathname + location.search);
    this.#pendingCode = code;
    await this.retryLogin();
  }

  /** Retries a login that the server has not checked. */
  retryLogin = async (): Promise<void> => {
    const code = this.#pendingCode;
    if (code === null) return;
    let response: Response;
    try {
      response = await this.#post('/api/login', { code });
    } catch {
      this.#rejectLogin('unreachable');
      return;
    }
    const body: unknown = await response.json().catch(() => null);
    const token = readText(body, 'token');
    if (response.ok && token !== null) this.#storeToken(token);
    else this.#rejectLogin(response.status >= 500 ? 'unreachable' : getLoginFailure(response.status, body));
  };

  /**
   * Ends the session if the server rejected this token. A newer token stays: the response may be
   * late.
   */
  endSession(token: string): void {
    if (this.getToken() !== token) return;
    sessionStorage.setItem(RETURN_PATH_STORAGE_KEY, location.pathname + location.search);
    this.#dropToken('sessionExpired');
  }

  /**
   * Revokes the token. Drops it first, even if the server is unreachable, so that no running query
   * uses it again.
   */
  logOut = async (): Promise<void> => {
    const token = this.getToken();
    if (token === null) return;
    this.#dropToken('loggedOut');
    await this.#post('/api/logout', {}, token).catch(() => null);
  };

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #storeToken(token: string): void {
    this.#pendingCode = null;
    sessionStorage.setItem(TOKEN_STORAGE_KEY, token);
    const returnPath = sessionStorage.getItem(RETURN_PATH_STORAGE_KEY);
    sessionStorage.removeItem(RETURN_PATH_STORAGE_KEY);
    // A link leads to `/`; after an expired session the visitor returns to the previous page.
    if (returnPath !== null && location.pathname === '/') history.replaceState(history.state, '', returnPath);
    this.#setState({ token, signedOutReason: 'noLink' });
  }

  #rejectLogin(signedOutReason: SignedOutReason): void {
    if (signedOutReason !== 'unreachable' && signedOutReason !== 'rateLimited') this.#pendingCode = null;
    // A valid session survives an invalid link, such as one opened again by going back.
    if (this.getToken() === null) this.#setState({ token: null, signedOutReason });
  }

  #dropToken(signedOutReason: SignedOutReason): void {
    sessionStorage.removeItem(TOKEN_STORAGE_KEY);
    this.#setState({ token: null, signedOutReason });
  }

  #post(path: string, body: unknown, token: string | null = null): Promise<Response> {
    return fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      credentials: 'omit',
      redirect: 'error',
    });
  }

  #setState(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Session();
