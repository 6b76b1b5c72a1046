// The server's shapes of tasks, as `/api/board`, `/api/tasks` and `/api/epics` give them.

export const COLUMNS = ['blocked', 'ready', 'inProgress', 'inReview', 'done'] as const;
export type ColumnName = (typeof COLUMNS)[number];

export type StoredState = 'pending' | 'assigned' | 'in_progress' | 'review' | 'blocked' | 'completed' | 'failed' | 'cancelled';

export interface RowAgent {
  readonly id: string;
  readonly short: string;
  readonly role: string;
  readonly state: string;
  readonly since: string;
  readonly limitedUntil: string | null;
  readonly asks: { readonly mailId: string; readonly subject: string; readonly since: string } | null;
  readonly review: { readonly iteration: number; readonly max: number } | null;
}

export interface TaskRow {
  readonly id: string;
  readonly number: number;
  readonly slug: string;
  readonly title: string;
  readonly state: string;
  readonly storedState: StoredState;
  readonly column: ColumnName;
  readonly priority: number;
  readonly session: string;
  readonly epic: { readonly id: string; readonly title: string } | null;
  readonly needs: readonly { readonly number: number; readonly done: boolean }[];
  readonly neededBy: number;
  readonly agent: RowAgent | null;
  readonly merge: 'queued' | 'merging' | 'held' | 'merged' | 'sent_back' | null;
  readonly costUsd: number | null;
  readonly updatedAt: string;
}

export interface BoardView {
  readonly columns: readonly {
    readonly name: ColumnName;
    readonly count: number;
    readonly tasks: readonly TaskRow[];
    readonly nextCursor: string | null;
  }[];
  readonly truncated: boolean;
}

export interface TasksView {
  readonly tasks: readonly TaskRow[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

export interface TaskLink {
  readonly number: number;
  readonly title: string;
  readonly state: StoredState;
  readonly column: ColumnName;
}

export interface HistoryEntry {
  readonly number: number;
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly by: string | null;
  readonly comment: string | null;
}

export interface HistoryView {
  readonly history: readonly HistoryEntry[];
  readonly nextCursor: number | null;
}

export interface WholeTask extends TaskRow {
  readonly description: string | null;
  readonly reason: string | null;
  readonly fence: number;
  readonly attempts: number;
  readonly waitsFor: readonly TaskLink[];
  readonly waitedForBy: readonly TaskLink[];
  readonly comments: readonly {
    readonly id: number;
    readonly agentId: string | null;
    readonly role: string | null;
    readonly body: string;
    readonly createdAt: string;
  }[];
  readonly dispatches: readonly {
    readonly agentId: string;
    readonly short: string;
    readonly role: string;
    readonly status: string;
    readonly startedAt: string;
    readonly endedAt: string | null;
    readonly summary: string | null;
    readonly costUsd: number | null;
  }[];
  readonly agents: number;
  readonly budgetUsd: number | null;
  readonly history: readonly HistoryEntry[];
  readonly historyCursor: number | null;
  readonly branchName: string | null;
  readonly pullRequest: { readonly repository: string; readonly number: number; readonly url: string; readonly state: string } | null;
  readonly prUrl: string | null;
  readonly context: string;
  readonly createdAt: string;
}

export interface GraphView {
  readonly nodes: readonly {
    readonly number: number;
    readonly title: string;
    readonly state: StoredState;
    readonly column: ColumnName;
    readonly priority: number;
  }[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
  readonly truncated: boolean;
}

export interface EpicRow {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly description: string | null;
  readonly state: string;
  readonly counts: Readonly<Record<ColumnName, number>>;
  readonly tasks: number;
  readonly done: number;
  readonly costUsd: number | null;
  readonly supervisorId: string | null;
}

export interface EpicsView {
  readonly epics: readonly EpicRow[];
  readonly nextCursor: number | null;
}

/** Which tasks are shown; what is empty filters nothing. */
export interface TaskFilter {
  readonly epic: string;
  readonly q: string;
}
