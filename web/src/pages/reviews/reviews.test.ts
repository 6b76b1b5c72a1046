import { describe, expect, it } from 'vitest';
import { buildGroups, findItem } from './items';
import { groupNotes, describeVerdict, removeFeedbackFile } from './notes';
import { loadSeen, toggleSeen } from './seenFiles';
import type { AgentDiff, CoderView, FeedbackView, MergeView, ReviewView, ReviewQueueTask } from '../../api/types';
import { isQueueMoving, describeTargets, buildQueue } from './mergeQueue';

const buildMerge = (number: number, change: Partial<MergeView>): MergeView => ({
  id: `merge_${number}`, taskId: `task_${number}`, slug: `s${number}`, number: `TAS-${number}`, title: `T${number}`, branch: 'b', target: 'main',
  commit: 'abcdef0123', mergedCommit: null, state: 'queued', position: null, reason: null, conflicts: [], checkOutput: null, setupOutput: null, files: [], agentId: null,
  approvedBy: null, createdAt: `2026-11-15T13:0${number}:00.000Z`, endedAt: null, ...change,
});

const buildReview = (iteration: number, change: Partial<ReviewView> = {}): ReviewView => ({
  coderId: 'sp_c', coderRole: 'coder', reviewerId: `sp_r${iteration}`, reviewerRole: 'reviewer', task: { number: 'TAS-1', slug: 's', title: 'T' },
  iteration, maxIterations: 3, state: 'open', failed: false, branch: 'b', commit: 'c', message: null, createdAt: '', endedAt: null,
  taskSlug: 's', instanceStatus: 'WAITING_REVIEW', tmuxSession: null, ...change,
});

const buildFeedback = (body: string, items: readonly string[] = []): FeedbackView => ({ id: 'fb', type: 'needs_work', priority: null, body, items, commit: null, createdAt: '' });

const buildTask = (number: number, change: Partial<ReviewQueueTask> = {}): ReviewQueueTask => ({
  id: `task_${number}`, slug: `s${number}`, number: `TAS-${number}`, title: `T${number}`, updatedAt: '', branch: 'b', commit: 'c', target: 'main', behind: 0,
  worker: { id: `sp_${number}`, role: 'coder', state: 'running', iterations: 2, maxIterations: 3 }, supervisorId: null, lastMerge: null, changedFiles: 3,
  additions: 1, deletions: 1, uncommitted: [], pullRequest: null, overlaps: [], mergesCleanly: true, conflicts: [],
  assignedAgentId: `sp_${number}`, branchName: 'b', createdAt: '', dependsOn: [], description: null, epicId: null, prUrl: null, priority: 2, state: 'REVIEW',
  storedState: 'review', worktreePath: null, ...change,
});

const coder: CoderView = {
  coderId: 'sp_l', role: 'coder', state: 'running', task: { number: 'TAS-9', slug: 's9', title: 'Nine' }, branch: 'b', reviewedAt: null, iterations: 3,
  maxIterations: 3, failures: 3, abandonAfter: 5, taskSlug: 's9', instanceStatus: 'STARTED',
};

describe('the merge queue', () => {
  const ended = (minute: number) => `2026-11-15T13:${minute}:00.000Z`;

  it('is sorted from merged to sent back', () => {
    const stations = buildQueue({
      merges: [buildMerge(4, { position: 2 }), buildMerge(3, { position: 1 }), buildMerge(5, { state: 'held', reason: 'main has local changes' }), buildMerge(6, { state: 'merging', position: 1 })],
      over: [
        buildMerge(7, { state: 'sent_back', endedAt: ended(40), conflicts: [{ file: 'a', lines: [], kind: 'content' }] }),
        buildMerge(2, { state: 'merged', mergedCommit: '1be77a0123', endedAt: ended(30) }),
        buildMerge(1, { state: 'merged', mergedCommit: '90d2c3e123', endedAt: ended(20) }),
      ],
    });
    expect(stations.map((station) => [station.merge.number, station.stage])).toEqual([
      ['TAS-1', 'merged'], ['TAS-2', 'merged'], ['TAS-6', 'checking'], ['TAS-3', 'next'], ['TAS-4', 'queued'], ['TAS-5', 'held'], ['TAS-7', 'sentBack'],
    ]);
    expect(stations[1]?.line).toMatch(/^merged 1be77a0, /);
    expect(stations[4]?.line).toBe('1 ahead');
    expect(stations[5]?.line).toBe('held: main has local changes');
    expect(stations[6]?.line).toMatch(/1 conflicting file$/);
  });

  it('has each task once, with its newest merge', () => {
    const back = buildMerge(1, { id: 'merge_old', state: 'sent_back', endedAt: ended(10) });
    expect(buildQueue({ merges: [buildMerge(1, { position: 1 })], over: [back] }).map((station) => station.stage)).toEqual(['next']);
    const merged = buildMerge(1, { state: 'merged', endedAt: ended(20) });
    expect(buildQueue({ merges: [], over: [merged, back] }).map((station) => station.stage)).toEqual(['merged']);
  });

  it('knows if something is pending, and names its targets', () => {
    expect(isQueueMoving(undefined)).toBe(false);
    expect(isQueueMoving({ merges: [buildMerge(1, { state: 'held' })] })).toBe(false);
    expect(isQueueMoving({ merges: [buildMerge(1, {})] })).toBe(true);
    expect(describeTargets(buildQueue({ merges: [buildMerge(1, {}), buildMerge(2, { target: 'epic/1' })] }))).toBe('main and 1 more');
    expect(describeTargets(buildQueue({ merges: [buildMerge(1, { target: 'adjutant/epic/epic_6878544e2a1d044c' })] }))).toBe('epic d044c');
  });
});

describe('the list', () => {
  it('has work for the operator, then work with others', () => {
    const open = buildMerge(3, {});
    const groups = buildGroups(
      [buildTask(1), buildTask(2, { supervisorId: 'sp_boss' }), buildTask(3, { lastMerge: open })],
      [coder],
      [buildReview(1, { coderId: 'sp_7' }), buildReview(2, { coderId: 'sp_l' }), buildReview(3, { coderId: 'sp_8', endedAt: 'x' })],
    );
    expect(groups.map((group) => [group.name, group.items.map((item) => item.id)])).toEqual([
      ['Waits for you', ['sp_1', 'sp_l']],
      ['With a reviewer', ['sp_7']],
      ['With a supervisor', ['sp_2']],
    ]);
    expect(groups[0]?.items.map((item) => item.line)).toEqual(['TAS-1, 3 files, 2 rounds', 'TAS-9, 3 of 3 reviews used: allow more or end']);
  });

  it('shows work again that was sent back and resubmitted', () => {
    const back = buildMerge(1, { state: 'sent_back', endedAt: 'x' });
    expect(buildGroups([buildTask(1, { lastMerge: back })], [], [])).toHaveLength(1);
  });

  it('finds an item by agent, reviewer or task', () => {
    const groups = buildGroups([buildTask(1)], [coder], [buildReview(1, { coderId: 'sp_7', task: null })]);
    expect(findItem(groups, 'TAS-1')?.id).toBe('sp_1');
    expect(findItem(groups, 'sp_1')?.kind).toBe('approve');
    expect(findItem(groups, 's9')?.kind).toBe('limit');
    expect(findItem(groups, 'sp_r1')?.id).toBe('sp_7');
    expect(findItem(groups, 'sp_none')).toBeNull();
    expect(findItem(groups, null)).toBeNull();
  });
});

describe('notes', () => {
  const files = ['src/acks.rs', 'tests/acks.rs', 'src/store.rs'];

  it('are grouped under the one file that they name', () => {
    const review = buildReview(2, { state: 'feedback', feedback: buildFeedback('In `src/acks.rs` the last line is lost.', ['Name it in store.rs better', 'see acks.rs', 'src/acks.rs and src/store.rs clash']) });
    const notes = groupNotes([buildReview(1), review], files);
    expect(notes.get('src/acks.rs')?.map((note) => note.text)).toEqual(['In `src/acks.rs` the last line is lost.']);
    expect(notes.get('src/store.rs')).toHaveLength(1);
    expect(notes.get('')?.map((note) => note.text)).toEqual(['see acks.rs', 'src/acks.rs and src/store.rs clash']);
  });

  it('exclude the feedback file from the diff', () => {
    const part = (path: string) => `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+diff --git a/x b/x\n`;
    const file = (path: string) => ({ path, oldPath: null, status: 'added', added: 1, removed: 0, binary: false });
    const diff: AgentDiff = {
      commits: [], rescued: null,
      branch: 'b', base: 'b', target: 'main', head: 'h', uncommitted: false, merged: false, truncated: false, why: null,
      patch: part('a.txt') + part('REVIEW_FEEDBACK.md') + part('docs/REVIEW_FEEDBACK.md'),
      files: ['a.txt', 'REVIEW_FEEDBACK.md', 'docs/REVIEW_FEEDBACK.md'].map(file),
    };
    const work = removeFeedbackFile(diff);
    expect(work.patch).toBe(part('a.txt') + part('docs/REVIEW_FEEDBACK.md'));
    expect(work.files.map((one) => one.path)).toEqual(['a.txt', 'docs/REVIEW_FEEDBACK.md']);
  });

  it('describe the outcome of a review', () => {
    expect(describeVerdict(buildReview(1, { state: 'feedback', feedback: buildFeedback('x') }))).toBe('requested changes');
    expect(describeVerdict(buildReview(1, { state: 'approved' }))).toBe('approved');
    expect(describeVerdict(buildReview(1, { state: 'silent' }))).toBe('ended without feedback');
  });
});

describe('seen files', () => {
  it('are toggled, and stored per commit', () => {
    expect([...toggleSeen(new Set(['a']), 'b')]).toEqual(['a', 'b']);
    expect([...toggleSeen(new Set(['a']), 'a')]).toEqual([]);
    sessionStorage.setItem('adjutant.seen.c1', '["a", 7]');
    sessionStorage.setItem('adjutant.seen.c2', 'broken');
    expect([...loadSeen('c1')]).toEqual(['a']);
    expect([...loadSeen('c2')]).toEqual([]);
    expect([...loadSeen('c3')]).toEqual([]);
  });
});
