// The server's shapes, as `/api/settings` and `/api/webhooks` give them.

export interface KeyView {
  readonly key: string;
  readonly description: string;
  readonly value: unknown;
  readonly default: unknown;
  readonly isSet: boolean;
  readonly atStart: boolean;
  /** The variable that decides it, whatever the file says. */
  readonly decidedBy: string | null;
  readonly choices: readonly string[];
}

export interface FileProblem {
  readonly line: number | null;
  readonly key: string | null;
  readonly message: string;
  readonly hint: string | null;
}

export interface RoleSum {
  readonly displayName: string | null;
  readonly description: string | null;
  readonly category: string;
  readonly kind: string;
  readonly model: string | null;
  readonly cwd: string | null;
  readonly worktree: string;
  readonly sandbox: string;
  readonly timeout: number | null;
  readonly inactivity: number | null;
  readonly budget: { readonly usd: number | null; readonly tokens: number | null; readonly agents: number | null; readonly seconds: number | null };
  readonly ownTools: readonly string[] | null;
  readonly ownToolsDenied: readonly string[];
  readonly tools: readonly string[];
}

export interface RoleView {
  readonly name: string;
  readonly path: string;
  readonly isOwn: boolean;
  readonly text: string;
  readonly hash: string;
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
  readonly comesTo: RoleSum | null;
}

export interface CategoryView {
  readonly name: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly reach: string;
  readonly mayDraft: readonly string[];
  readonly inactivity: number;
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

export interface ToolsetView {
  readonly name: string;
  readonly tools: readonly { readonly name: string; readonly short: string; readonly title: string }[];
}

export interface SettingsView {
  readonly config: {
    readonly path: string;
    readonly text: string;
    readonly hash: string;
    readonly problems: readonly FileProblem[];
    readonly keys: readonly KeyView[];
  };
  readonly roles: readonly RoleView[];
  readonly categories: readonly CategoryView[];
  readonly toolsets: readonly ToolsetView[];
}

/** A change as the server takes it: without a value the key goes back to its default. */
export type KeyChange = { readonly key: string; readonly value?: unknown };
export type Change = { readonly changes: readonly KeyChange[] } | { readonly role: { readonly name: string; readonly text: string } };

export interface Checked {
  readonly ok: boolean;
  readonly problems: readonly FileProblem[];
  readonly notes: readonly string[];
  readonly diff: string;
  readonly hash: string | null;
}

export interface Saved {
  readonly diff: string;
  readonly hash: string | null;
  readonly notes: readonly string[];
  readonly reloaded: { readonly roles: number; readonly warnings: readonly string[] };
}

export type HookState = 'new' | 'ok' | 'failing' | 'held' | 'disabled';

export interface WebhookView {
  readonly name: string;
  readonly url: string;
  readonly form: string;
  readonly kinds: readonly string[];
  readonly hasKey: boolean;
  readonly attempts: number;
  readonly state: HookState;
  readonly problem: string | null;
  readonly lastOkAt: string | null;
  readonly lastFailedAt: string | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly pending: number;
  readonly dead: number;
}

export type DeliveryState = 'pending' | 'delivered' | 'dead';

export interface DeliveryView {
  readonly id: string;
  readonly webhook: string;
  readonly eventNumber: number;
  readonly kind: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextTryAt: string | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly body: unknown;
}

export interface DeliveriesView {
  readonly deliveries: readonly DeliveryView[];
  readonly nextCursor?: number;
}

export interface SentView {
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly millis: number;
}
