// One agent as the server shows it.
import type { CrewRow, Segment } from '../crew/shapes';

export interface Amounts {
  readonly usd: number | null;
  readonly tokens: number | null;
  readonly agents: number | null;
  readonly seconds: number | null;
}

export interface WholeAgent {
  readonly id: string;
  readonly role: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly summary: string | null;
  readonly model: string | null;
  readonly attempt: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly deadlineAt: string | null;
  readonly durationMs: number;
  readonly costUsd: number | null;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly budget: { readonly caps: Amounts; readonly spent: Amounts } | null;
  readonly prompt: string | null;
  readonly result: Result | null;
  readonly tmuxSession: string | null;
  readonly resumedFrom: string | null;
  readonly worktree: { readonly path: string; readonly branch: string; readonly target: string | null; readonly state: string } | null;
}

export interface Result {
  readonly summary?: string;
  readonly changes?: readonly string[];
  readonly issues?: readonly string[];
  readonly questions?: readonly string[];
  readonly structured?: unknown;
}

export interface Mark {
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly href: string | null;
}

export interface AgentStory {
  readonly row: CrewRow;
  readonly crumbs: readonly { readonly id: string; readonly role: string }[];
  readonly segments: readonly Segment[];
  readonly marks: readonly Mark[];
  readonly calls: readonly number[];
  readonly spend: readonly { readonly at: string; readonly usd: number }[];
  readonly context: string | null;
  readonly children: readonly CrewRow[];
  readonly counts: { readonly calls: number; readonly mail: number; readonly children: number };
  readonly claim: { readonly number: number; readonly leaseUntil: string | null } | null;
  readonly branch: string | null;
  readonly pull: { readonly url: string; readonly number: number; readonly state: string } | null;
}

export interface Commit {
  readonly hash: string;
  readonly at: string;
  readonly subject: string;
}

export interface AgentDiff {
  readonly branch: string | null;
  readonly base: string | null;
  readonly target: string | null;
  readonly head: string | null;
  readonly uncommitted: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly oldPath: string | null;
    readonly status: string;
    readonly added: number;
    readonly removed: number;
    readonly binary: boolean;
  }[];
  readonly patch: string;
  readonly truncated: boolean;
  readonly commits: readonly Commit[];
  readonly rescued: string | null;
  readonly why: string | null;
}

export interface Place {
  readonly segment: number;
  readonly offset: number;
}

export type ItemKind = 'told' | 'message' | 'thought' | 'call' | 'output' | 'error' | 'system';

/** One thing that was said, done or told. */
export interface Item {
  readonly at: string;
  readonly kind: ItemKind;
  readonly id: string | null;
  readonly tool: string | null;
  readonly text: string;
  readonly input: unknown;
  readonly ok: boolean | null;
  readonly durationMs: number | null;
  readonly commit: string | null;
  /** Whether it goes on from the one before it, if that is such a part of the same kind and id. */
  readonly part: boolean;
  readonly err: boolean;
  readonly cut: number;
}

export interface StreamPart {
  readonly items: readonly Item[];
  readonly from: Place;
  readonly next: Place;
  readonly attempt: number;
  readonly complete: boolean;
}
