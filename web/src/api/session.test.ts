import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Session } from './session';

interface RecordedRequest {
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string | null;
}

const requests: RecordedRequest[] = [];

/** Queues the server's next responses; without one, the server is unreachable. */
function mockResponses(...next: readonly (readonly [number, unknown])[]): void {
  const left = [...next];
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    requests.push({ path, body: JSON.parse(String(init.body)), authorization: headers.get('Authorization') });
    const answer = left.shift();
    if (answer === undefined) throw new TypeError('away');
    return new Response(answer[0] === 204 ? null : JSON.stringify(answer[1]), { status: answer[0] });
  });
}

const buildRefusal = (reason: string): readonly [number, unknown] => [401, { code: 'UNAUTHENTICATED', details: { reason } }];

beforeEach(() => {
  requests.length = 0;
  sessionStorage.clear();
  history.replaceState(null, '', '/');
});
afterEach(() => vi.unstubAllGlobals());

test('a link is exchanged for a token, and its code is removed from the address', async () => {
  history.replaceState(null, '', '/crew?q=x#login=adjlink_1');
  mockResponses([200, { token: 'adjtab_1', readOnly: false, expiresAt: '2026-12-15T00:00:00.000Z' }]);
  const session = new Session();
  await session.logInFromAddress();
  expect(session.getState()).toEqual({ token: 'adjtab_1', signedOutReason: 'noLink' });
  expect(location.href).toMatch(/\/crew\?q=x$/);
  expect(requests).toEqual([{ path: '/api/login', body: { code: 'adjlink_1' }, authorization: null }]);
  expect(new Session().getToken()).toBe('adjtab_1');
});

test('an address without a link sends no request', async () => {
  mockResponses();
  const session = new Session();
  await session.logInFromAddress();
  expect(session.getState()).toEqual({ token: null, signedOutReason: 'noLink' });
  expect(requests).toEqual([]);
});

test.each([
  ['used', 'linkUsed'],
  ['ended', 'linkExpired'],
  ['unknown', 'linkUnknown'],
])('a link rejected as %s has its reason', async (reason, signedOutReason) => {
  history.replaceState(null, '', '/#login=adjlink_1');
  mockResponses(buildRefusal(reason));
  const session = new Session();
  await session.logInFromAddress();
  expect(session.getState()).toEqual({ token: null, signedOutReason });
  expect(location.hash).toBe('');
});

test('a link that was not checked can be retried', async () => {
  history.replaceState(null, '', '/#login=adjlink_1');
  mockResponses();
  const session = new Session();
  await session.logInFromAddress();
  expect(session.getState().signedOutReason).toBe('unreachable');
  mockResponses([429, { code: 'RATE_LIMITED' }], [503, {}], [200, { token: 'adjtab_1' }]);
  await session.retryLogin();
  expect(session.getState().signedOutReason).toBe('rateLimited');
  await session.retryLogin();
  expect(session.getState().signedOutReason).toBe('unreachable');
  await session.retryLogin();
  expect(session.getToken()).toBe('adjtab_1');
});

test('a valid session survives an old link', async () => {
  sessionStorage.setItem('adjutant.token', 'adjtab_1');
  history.replaceState(null, '', '/#login=adjlink_old');
  mockResponses(buildRefusal('used'));
  const session = new Session();
  await session.logInFromAddress();
  expect(session.getToken()).toBe('adjtab_1');
});

test('a link pasted into an open tab logs in without a page load', async () => {
  mockResponses([200, { token: 'adjtab_2' }]);
  const session = new Session();
  await session.start();
  const changed = new Promise<void>((resolve) => session.subscribe(resolve));
  location.hash = 'login=adjlink_2';
  await changed;
  expect(session.getToken()).toBe('adjtab_2');
});

test('an expired session keeps the address, and a new link returns to it', async () => {
  sessionStorage.setItem('adjutant.token', 'adjtab_1');
  history.replaceState(null, '', '/agents/sp_1?tab=diff');
  const session = new Session();
  session.endSession('adjtab_1');
  expect(session.getState()).toEqual({ token: null, signedOutReason: 'sessionExpired' });
  expect(location.pathname + location.search).toBe('/agents/sp_1?tab=diff');
  history.replaceState(null, '', '/#login=adjlink_2');
  mockResponses([200, { token: 'adjtab_2' }]);
  await session.logInFromAddress();
  expect(location.pathname + location.search).toBe('/agents/sp_1?tab=diff');
  session.endSession('adjtab_1');
  expect(session.getToken()).toBe('adjtab_2');
});

test('logging out revokes the token, and drops it even if the server is unreachable', async () => {
  sessionStorage.setItem('adjutant.token', 'adjtab_1');
  mockResponses([204, null]);
  const session = new Session();
  await session.logOut();
  expect(requests).toEqual([{ path: '/api/logout', body: {}, authorization: 'Bearer adjtab_1' }]);
  expect(session.getState()).toEqual({ token: null, signedOutReason: 'loggedOut' });
  expect(sessionStorage.getItem('adjutant.token')).toBeNull();
  sessionStorage.setItem('adjutant.token', 'adjtab_2');
  mockResponses();
  const other = new Session();
  await other.logOut();
  expect(other.getToken()).toBeNull();
});
