// The crew as the server shows it.

export interface Segment {
  /** An agent's state, or `awaiting` while a call of its own waits for others. */
  readonly state: string;
  readonly from: string;
  readonly to: string | null;
}

export interface CrewRow {
  readonly id: string;
  readonly short: string;
  readonly role: string;
  readonly displayName: string | null;
  readonly category: string;
  readonly kind: string;
  readonly model: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly limitedUntil: string | null;
  readonly task: { readonly number: number; readonly slug: string; readonly title: string } | null;
  readonly epic: { readonly id: string; readonly title: string } | null;
  readonly parentId: string | null;
  readonly depth: number;
  readonly children: number;
  readonly liveBelow: number;
  readonly endedBelow: number;
  readonly doing: { readonly text: string; readonly tool: string | null } | null;
  readonly asks: { readonly mailId: string; readonly subject: string; readonly since: string } | null;
  readonly queuePlace: number | null;
  readonly review: { readonly iteration: number; readonly max: number; readonly reviewerId: string | null } | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly costUsd: number | null;
  readonly budget: { readonly usd: number | null; readonly spentUsd: number } | null;
  readonly deadlineAt: string | null;
  readonly segments?: readonly Segment[];
  /** When it called tools, in milliseconds since 1970. */
  readonly calls?: readonly number[];
}

/** A page of the crew. */
export interface CrewList {
  readonly rows: readonly CrewRow[];
  /** How many that ended long ago were left out. */
  readonly past: number;
  readonly nextCursor: number | null;
}

export interface CrewRows {
  readonly rows: readonly CrewRow[];
}

export type Standing = 'all' | 'running' | 'waiting' | 'queued' | 'ended';

/** What is shown: a tree, or a flat list of those that stand so or have a text in them. */
export interface View {
  readonly state: Standing;
  readonly q: string;
}

export function isFlat(view: View): boolean {
  return view.state !== 'all' || view.q.trim() !== '';
}

export interface Role {
  readonly name: string;
  readonly displayName: string | null;
  readonly description: string | null;
  readonly category: string;
  readonly kind: string;
  readonly model: string | null;
}
