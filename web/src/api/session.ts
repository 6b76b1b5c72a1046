// The tab's token: got for the code in a link, kept in this tab alone, and sent as a header. Never a cookie: cookies reach
// other ports of the same machine, where agents run servers of their own.

const KEY = 'adjutant.token';
/** Where the tab was when its token ended, to go back to. */
const BACK = 'adjutant.back';

/**
 * Why there is no token. `none`: nobody came by a link. `used`, `late`, `unknown`: the link did not work. `busy`, `away`: it was
 * not looked at, and can be tried again. `ended`: the token is void. `left`: the reader logged out.
 */
export type Absence = 'none' | 'used' | 'late' | 'unknown' | 'busy' | 'away' | 'ended' | 'left';

export interface Standing {
  readonly token: string | null;
  readonly absence: Absence;
}

type Listener = () => void;

/** The text of a field of an answer, wherever it stands. */
function text(body: unknown, ...path: readonly string[]): string | null {
  let value = body;
  for (const name of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : null;
  return typeof value === 'string' ? value : null;
}

/** What a refusal of a link means. */
function absenceOf(status: number, body: unknown): Absence {
  if (status === 429) return 'busy';
  const reason = text(body, 'details', 'reason');
  if (reason === 'used') return 'used';
  return reason === 'ended' ? 'late' : 'unknown';
}

export class Session {
  #standing: Standing = { token: sessionStorage.getItem(KEY), absence: 'none' };
  /** A code that was not looked at yet. */
  #code: string | null = null;
  readonly #listeners = new Set<Listener>();

  standing = (): Standing => this.#standing;

  token(): string | null {
    return this.#standing.token;
  }

  /** Comes in by the link in the address, if one is there; also by one that is pasted later, which loads no page. */
  async start(): Promise<void> {
    addEventListener('hashchange', () => void this.enter());
    await this.enter();
  }

  /** Exchanges the code in the address for a token, and takes it out of the address. */
  async enter(): Promise<void> {
    const code = new URLSearchParams(location.hash.slice(1)).get('login');
    if (code === null) return;
    history.replaceState(history.state, '', location.pathname + location.search);
    this.#code = code;
    await this.again();
  }

  /** Tries a link again that was not looked at. */
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

  /** The server does not know this token any more. A later one stays: the answer may be an old one. */
  end(token: string): void {
    if (this.token() !== token) return;
    sessionStorage.setItem(BACK, location.pathname + location.search);
    this.#forget('ended');
  }

  /** Gives the token back. It is forgotten first, even if the server is away: what still uses it must not ask again. */
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
    // A link leads to the front; who was put out goes on where they were.
    if (back !== null && location.pathname === '/') history.replaceState(history.state, '', back);
    this.#tell({ token, absence: 'none' });
  }

  #refuse(absence: Absence): void {
    if (absence !== 'away' && absence !== 'busy') this.#code = null;
    // Who is in stays in: a link that is opened again, as after going back, is no reason to leave.
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
