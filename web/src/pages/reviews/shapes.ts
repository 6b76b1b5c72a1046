// Work that is looked at and merged, as the server shows it.

export interface LineRange {
  readonly from: number;
  readonly to: number;
}

export interface Conflict {
  readonly file: string;
  readonly lines: readonly LineRange[];
  readonly kind: string;
}

export interface Overlap {
  readonly taskId: string;
  readonly slug: string;
  readonly files: readonly string[];
  readonly conflicts: readonly Conflict[] | null;
}

export type MergeState = 'queued' | 'merging' | 'merged' | 'sent_back' | 'held';

export interface Merge {
  readonly id: string;
  readonly taskId: string;
  readonly slug: string;
  readonly number: string;
  readonly title: string;
  readonly branch: string;
  readonly target: string;
  readonly commit: string;
  readonly mergedCommit: string | null;
  readonly state: MergeState;
  readonly position: number | null;
  readonly reason: string | null;
  readonly conflicts: readonly Conflict[];
  readonly checkOutput: string | null;
  readonly checking?: { readonly startedAt: string | null; readonly output: readonly string[] };
  readonly files: readonly string[];
  readonly agentId: string | null;
  readonly approvedBy: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

export interface Merges {
  readonly merges: readonly Merge[];
  readonly over?: readonly Merge[];
  readonly nextCursor?: number;
}

export interface Pull {
  readonly number: number;
  readonly url: string;
  readonly state: string;
}

/** A task in review, and what git says of its branch. */
export interface Reviewed {
  readonly id: string;
  readonly slug: string;
  readonly number: string;
  readonly title: string;
  readonly updatedAt: string;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly target: string | null;
  readonly behind: number | null;
  readonly worker: { readonly id: string; readonly role: string; readonly state: string; readonly iterations: number; readonly maxIterations: number } | null;
  readonly supervisorId: string | null;
  readonly lastMerge: Merge | null;
  readonly changedFiles: number;
  readonly additions: number;
  readonly deletions: number;
  readonly uncommitted: readonly string[];
  readonly pullRequest: Pull | null;
  readonly overlaps: readonly Overlap[];
  readonly mergesCleanly: boolean | null;
  readonly conflicts: readonly Conflict[];
  readonly problem?: string;
}

export interface ReviewQueue {
  readonly tasks: readonly Reviewed[];
  readonly queue: readonly Merge[];
  readonly nextCursor?: string;
}

export interface TaskInShort {
  readonly number: string;
  readonly slug: string;
  readonly title: string;
}

export interface Feedback {
  readonly id: string;
  readonly type: 'needs_work' | 'suggestions' | 'clarification';
  readonly priority: string | null;
  readonly body: string;
  readonly items: readonly string[];
  readonly commit: string | null;
  readonly createdAt: string;
}

export interface Review {
  readonly coderId: string;
  readonly coderRole: string;
  readonly reviewerId: string;
  readonly reviewerRole: string | null;
  readonly task: TaskInShort | null;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly state: 'open' | 'feedback' | 'approved' | 'silent' | 'timed_out' | 'undone';
  readonly failed: boolean;
  readonly branch: string;
  readonly commit: string;
  readonly message: string | null;
  readonly feedback?: Feedback;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

/** An agent that has had all its reviews. */
export interface Coder {
  readonly coderId: string;
  readonly role: string;
  readonly state: string;
  readonly task: TaskInShort | null;
  readonly branch: string | null;
  readonly reviewedAt: string | null;
  readonly iterations: number;
  readonly maxIterations: number;
  readonly failures: number;
  readonly abandonAfter: number;
  readonly suggestions?: readonly string[];
}

export interface Reviews {
  readonly limited: readonly Coder[];
  readonly reviews: readonly Review[];
  readonly nextCursor?: number;
}

export interface Story extends Coder {
  readonly pullRequest?: Pull;
  readonly reviews: readonly Review[];
}

export interface DiffFile {
  readonly path: string;
  readonly oldPath: string | null;
  readonly status: string;
  readonly added: number;
  readonly removed: number;
  readonly binary: boolean;
}

export interface AgentDiff {
  readonly branch: string | null;
  readonly base: string | null;
  readonly target: string | null;
  readonly head: string | null;
  readonly uncommitted: boolean;
  readonly files: readonly DiffFile[];
  readonly patch: string;
  readonly truncated: boolean;
  readonly why: string | null;
}
