// The record as the server shows it.

export type Outcome = 'done' | 'failed' | 'denied' | 'begun';

export interface Who {
  readonly agentId: string | null;
  readonly role: string | null;
  readonly short: string | null;
  readonly operator: boolean;
}

export interface RecordRow {
  readonly number: number;
  readonly at: string;
  readonly who: Who;
  readonly tool: string;
  readonly outcome: Outcome;
  readonly code: string | null;
  readonly input: string;
  readonly durationMs: number | null;
  readonly taskId: string | null;
}

export interface Records {
  readonly rows: readonly RecordRow[];
  readonly nextCursor?: number;
  readonly searchedTo: { readonly number: number; readonly at: string } | null;
  readonly last: number;
}

export interface Counted {
  readonly calls: number;
  readonly failed: number;
  readonly denied: number;
}

export interface Histogram extends Counted {
  readonly from: string;
  readonly to: string;
  readonly step: number;
  readonly buckets: readonly Counted[];
  readonly estimate: boolean;
}

export interface Near {
  readonly number: number;
  readonly tool: string;
  readonly startedAt: string;
  readonly at: string;
  readonly outcome: Outcome;
}

export interface RecordedCall extends RecordRow {
  readonly startedAt: string;
  readonly standing: { readonly category: string; readonly depth: number } | null;
  readonly task: { readonly number: number; readonly slug: string; readonly title: string } | null;
  readonly wholeInput: string;
  readonly output: string;
  readonly error: { readonly code: string; readonly message: string; readonly suggestions: readonly string[] } | null;
  readonly gitCommit: string | null;
  readonly branch: string | null;
  readonly pair: { readonly number: number; readonly at: string; readonly outcome: Outcome } | null;
  readonly near: readonly Near[];
  readonly chain: {
    readonly previous: number;
    readonly before: string;
    readonly this: string;
    readonly fits: boolean;
    readonly problem: string | null;
  };
}

export interface Verified {
  readonly ok: boolean;
  readonly rows: number;
  readonly of: number;
  readonly head: string;
  readonly checkedAt: string;
  readonly fromFirstAt: string;
  readonly brokenAt?: number;
  readonly problem?: string;
}
