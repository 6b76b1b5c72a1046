// The tab's login session: exchanges the code of a link for a token and sends it as a header. The
// token stays in this tab. A cookie would also be sent to other ports of the machine, where agents
// run servers.

const KEY = 'adjutant.token';
/** Key of the address that was open when the session expired. */
const BACK = 'adjutant.back';

/**
 * Reason for the missing token. `noLink`: the visitor came without a link. `linkUsed`,
 * `linkExpired`, `linkUnknown`: the link was rejected. `rateLimited`, `unreachable`: the link was
 * not checked and can be retried. `sessionExpired`: the token is void. `loggedOut`: the visitor
 * logged out.
 */
export type Absence = 'none' | 'used' | 'late' | 'unknown' | 'busy' | 'away' | 'ended' | 'left';

export interface Standing {
  readonly token: string | null;
  readonly absence: Absence;
}

type Listener = () => void;

/** Returns the string at a path inside a response body. */
function text(body: unknown, ...path: readonly string[]): string | null {
  let value = body;
  for (const name of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof value === 'string' ? value : null;
}

/** Maps a rejected login to its reason. */
function absenceOf(status: number, body: unknown): Absence {
  if (status === 429) return 'busy';
  const reason = text(body, 'details', 'reason');
  if (reason === 'used') return 'used';
  return reason === 'ended' ? 'late' : 'unknown';
}

export class Session {
  #standing: Standing = { token: sessionStorage.getItem(KEY), absence: 'none' };
  /** Login code that the server has not checked yet. */
  #code: string | null = null;
  readonly #listeners = new Set<Listener>();

  standing = (): Standing => this.#standing;

  token(): string | null {
    return this.#standing.token;
  }

  /**
   * Logs in with the link in the address, and with every link pasted later, which loads no page.
   */
  async start(): Promise<void> {
    addEventListener('hashchange', () => void this.enter());
    await this.enter();
  }

  /** Exchanges the code in the address for a token, and removes it from the address. */
  async enter(): Promise<void> {
    const code = new URLSearchParams(location.hash.slice(1)).get('login');
    if (code === null) return;
    history.replaceState(history.state, '', location.pathname + location.search);
    this.#code = code;
    await this.again();
  }

  /** Retries a login that the server has not checked. */
  again = async (): Promise<void> => {
    const code = this.#code;
    if (code === null) return;
    let response: Response;
    try {
      response = await this.#post('/api/login', { code });
    } catch {
      this.#refuse('away');
      return;
    }
    const body: unknown = await response.json().catch(() => null);
    const token = text(body, 'token');
    if (response.ok && token !== null) this.#admit(token);
    else this.#refuse(response.status >= 500 ? 'away' : absenceOf(response.status, body));
  };

  /**
   * Ends the session if the server rejected this token. A newer token stays: the response may be
   * late.
   */
  end(token: string): void {
    if (this.token() !== token) return;
    sessionStorage.setItem(BACK, location.pathname + location.search);
    this.#forget('ended');
  }

  /**
   * Revokes the token. Drops it first, even if the server is unreachable, so that no running query
   * uses it again.
   */
  leave = async (): Promise<void> => {
    const token = this.token();
    if (token === null) return;
    this.#forget('left');
    await this.#post('/api/logout', {}, token).catch(() => null);
  };

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #admit(token: string): void {
    this.#code = null;
    sessionStorage.setItem(KEY, token);
    const back = sessionStorage.getItem(BACK);
    sessionStorage.removeItem(BACK);
    // A link leads to `/`; after an expired session the visitor returns to the previous page.
    if (back !== null && location.pathname === '/') history.replaceState(history.state, '', back);
    this.#tell({ token, absence: 'none' });
  }

  #refuse(absence: Absence): void {
    if (absence !== 'away' && absence !== 'busy') this.#code = null;
    // A valid session survives an invalid link, such as one opened again by going back.
    if (this.token() === null) this.#tell({ token: null, absence });
  }

  #forget(absence: Absence): void {
    sessionStorage.removeItem(KEY);
    this.#tell({ token: null, absence });
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

  #tell(standing: Standing): void {
    this.#standing = standing;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Session();
