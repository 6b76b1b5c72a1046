// HTTP client of the page. Adds the token to every request, and converts every error response to an
// `ApiError`.
import { session } from './session';
import type { ToolAnswers } from './types';

/** An error response, in the one form that all routes share. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly suggestions: readonly string[] = [],
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }

  /** Name of the rejected input field, if the error concerns one. */
  get field(): string | null {
    const field = this.details['field'];
    return typeof field === 'string' ? field : null;
  }

  /** True if no response arrived at all. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

type QueryParams = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Appends query parameters to a path; omits those without a value. */
export function withQuery(path: string, query: QueryParams = {}): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') params.set(key, String(value));
  }
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Sends a request with the tab's token; also used for streams. */
export async function sendRequest(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = session.getToken();
  if (token !== null) headers.set('Authorization', `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, credentials: 'omit', redirect: 'error' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError('SERVER_UNREACHABLE', 'The server does not answer.', 0, ['Run `adjutant up` if it is not running.']);
  }
  if (response.status === 401 && token !== null) session.endSession(token);
  return response;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseError(status: number, body: unknown): ApiError {
  const envelope = isRecord(body) ? body : {};
  const error = isRecord(envelope['error']) ? envelope['error'] : envelope;
  const readText = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback);
  const suggestions = Array.isArray(error['suggestions'])
    ? error['suggestions'].filter((one): one is string => typeof one === 'string')
    : [];
  const details = isRecord(error['details']) ? error['details'] : {};
  return new ApiError(
    readText(error['code'], 'INTERNAL_ERROR'),
    readText(error['message'], `The server answered ${status} without a reason.`),
    status,
    suggestions,
    details,
  );
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    body = null;
  }
  if (!response.ok) throw parseError(response.status, body);
  return body;
}

/**
 * Sends a GET request. The caller names the response type, which is generated from the server's
 * OpenAPI document.
 */
export async function get<T>(path: string, query: QueryParams = {}, signal?: AbortSignal): Promise<T> {
  const response = await sendRequest(withQuery(path, query), signal === undefined ? {} : { signal });
  return (await readJson(response)) as T;
}

/** Sends a POST request to a route of the operator. */
export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const response = await sendRequest(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await readJson(response)) as T;
}

/**
 * Calls a tool by its canonical name, as the operator or as an agent. The idempotency key makes a
 * repeated request one call.
 */
export function callTool<Name extends keyof ToolAnswers>(toolName: Name, input?: unknown, agentId?: string): Promise<ToolAnswers[Name]>;
export function callTool(toolName: string, input?: unknown, agentId?: string): Promise<unknown>;
export async function callTool(toolName: string, input: unknown = {}, agentId?: string): Promise<unknown> {
  const response = await sendRequest('/mcp/execute', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
    body: JSON.stringify({ toolName, input, agentId }),
  });
  const answer = await readJson(response);
  return isRecord(answer) ? answer['data'] : answer;
}
