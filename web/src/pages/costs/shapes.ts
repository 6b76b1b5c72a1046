// What was spent, as the server shows it.
import type { Budgeted } from '../../parts/plot/icicle';

export interface Spent {
  readonly usd: number;
  readonly tokens: number;
}

export interface SeriesKey extends Spent {
  readonly key: string;
  readonly label: string;
}

export interface Point {
  readonly from: string;
  readonly values: readonly (Spent & { readonly key: string })[];
}

export interface Series {
  readonly by: string;
  readonly from: string;
  readonly to: string;
  readonly step: number;
  readonly keys: readonly SeriesKey[];
  readonly points: readonly Point[];
  readonly total: Spent;
}

export interface Summary {
  readonly spentUsd: number;
  readonly rateUsd: number;
  readonly tokens: { readonly all: number; readonly read: number; readonly written: number; readonly cached: number };
  readonly doneTask: { readonly medianUsd: number | null; readonly count: number; readonly beforeUsd: number | null };
  readonly failed: {
    readonly usd: number;
    readonly worst: { readonly number: number; readonly slug: string; readonly title: string; readonly usd: number } | null;
  };
  readonly estimatedShare: number | null;
}

export interface LineageNode extends Budgeted {
  readonly short: string;
  readonly role: string;
  readonly taskNumber: number | null;
  readonly state: string;
  readonly children: readonly LineageNode[];
}

export interface Lineage {
  readonly root: LineageNode | null;
  readonly truncated: boolean;
}

export interface ToolFigure {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  readonly denied: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly spark: readonly number[];
}

export interface ToolsUsed {
  readonly from: string;
  readonly step: number;
  readonly tools: readonly ToolFigure[];
  readonly own: readonly { readonly tool: string; readonly calls: number; readonly failed: number }[];
  readonly estimate: boolean;
}
