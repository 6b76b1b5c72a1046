// What the frame around the pages reads. That it is what the server gives, `agree.ts` holds against its OpenAPI document.
export interface NeedsYou {
  readonly kind: 'question' | 'permission' | 'review' | 'reviewLimit' | 'budget' | 'merge' | 'mail';
  readonly title: string;
  readonly detail: string;
  readonly agentId: string | null;
  readonly role: string | null;
  readonly taskNumber: number | null;
  readonly since: string;
  readonly holdsUp: number;
  readonly href: string;
}

export interface Overview {
  readonly version: string;
  readonly project: string;
  readonly home: string;
  readonly now: string;
  readonly startedAt: string;
  readonly lastEvent: number;
  readonly readOnly: boolean;
  readonly running: { readonly used: number; readonly max: number; readonly queued: number };
  readonly agents: { readonly all: number; readonly running: number; readonly waiting: number; readonly queued: number; readonly ended: number };
  readonly openTasks: number;
  readonly mail: { readonly unread: number; readonly needsAnswer: number };
  readonly reviews: { readonly forYou: number; readonly open: number };
  readonly today: { readonly usd: number; readonly limitUsd: number | null; readonly tokens: number };
  readonly limited: readonly { readonly who: string; readonly until: string }[];
  readonly needsYou: readonly NeedsYou[];
  readonly needsYouCount: number;
}

export type AgentState =
  | 'queued' | 'starting' | 'running' | 'waiting_review' | 'waiting_input' | 'limited'
  | 'succeeded' | 'failed' | 'timed_out' | 'over_budget' | 'killed' | 'abandoned' | 'lost';
