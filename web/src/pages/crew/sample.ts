// Sample rows for tests.
import type { CrewRow } from '../../api/types';

export function sampleRow(id: string, change: Partial<CrewRow> = {}): CrewRow {
  return {
    id, short: id.slice(-5), role: 'coder', displayName: null, category: 'coding', kind: 'claude', model: null, state: 'running',
    reason: null, limitedUntil: null, task: null, epic: null, parentId: null, depth: 0, children: 0, liveBelow: 0, endedBelow: 0,
    doing: null, asks: null, queuePlace: null, review: null, startedAt: '2026-11-15T14:00:00.000Z', finishedAt: null, costUsd: null,
    budget: null, deadlineAt: null, ...change,
  };
}
