import { describe, expect, it } from 'vitest';
import { groupsOf, itemOf } from './items';
import { notesOf, verdictOf, withoutFeedback } from './notes';
import { readSeen, toggled } from './seen';
import type { AgentDiff, Coder, Feedback, Merge, Review, ReviewQueueTask } from '../../api/types';
import { isMoving, targetsOf, trainOf } from './train';

const merge = (number: number, change: Partial<Merge>): Merge => ({
  id: `merge_${number}`, taskId: `task_${number}`, slug: `s${number}`, number: `TAS-${number}`, title: `T${number}`, branch: 'b', target: 'main',
  commit: 'abcdef0123', mergedCommit: null, state: 'queued', position: null, reason: null, conflicts: [], checkOutput: null, files: [], agentId: null,
  approvedBy: null, createdAt: `2026-11-15T13:0${number}:00.000Z`, endedAt: null, ...change,
});

const review = (iteration: number, change: Partial<Review> = {}): Review => ({
  coderId: 'sp_c', coderRole: 'coder', reviewerId: `sp_r${iteration}`, reviewerRole: 'reviewer', task: { number: 'TAS-1', slug: 's', title: 'T' },
  iteration, maxIterations: 3, state: 'open', failed: false, branch: 'b', commit: 'c', message: null, createdAt: '', endedAt: null,
  taskSlug: 's', instanceStatus: 'WAITING_REVIEW', tmuxSession: null, ...change,
});

const feedback = (body: string, items: readonly string[] = []): Feedback => ({ id: 'fb', type: 'needs_work', priority: null, body, items, commit: null, createdAt: '' });

const task = (number: number, change: Partial<ReviewQueueTask> = {}): ReviewQueueTask => ({
  id: `task_${number}`, slug: `s${number}`, number: `TAS-${number}`, title: `T${number}`, updatedAt: '', branch: 'b', commit: 'c', target: 'main', behind: 0,
  worker: { id: `sp_${number}`, role: 'coder', state: 'running', iterations: 2, maxIterations: 3 }, supervisorId: null, lastMerge: null, changedFiles: 3,
  additions: 1, deletions: 1, uncommitted: [], pullRequest: null, overlaps: [], mergesCleanly: true, conflicts: [],
  assignedAgentId: `sp_${number}`, branchName: 'b', createdAt: '', dependsOn: [], description: null, epicId: null, prUrl: null, priority: 2, state: 'REVIEW',
  storedState: 'review', worktreePath: null, ...change,
});

const coder: Coder = {
  coderId: 'sp_l', role: 'coder', state: 'running', task: { number: 'TAS-9', slug: 's9', title: 'Nine' }, branch: 'b', reviewedAt: null, iterations: 3,
  maxIterations: 3, failures: 3, abandonAfter: 5, taskSlug: 's9', instanceStatus: 'STARTED',
};

describe('the train', () => {
  const ended = (minute: number) => `2026-11-15T13:${minute}:00.000Z`;

  it('goes from what is in to what was sent back', () => {
    const stations = trainOf({
      merges: [merge(4, { position: 2 }), merge(3, { position: 1 }), merge(5, { state: 'held', reason: 'main has local changes' }), merge(6, { state: 'merging', position: 1 })],
      over: [
        merge(7, { state: 'sent_back', endedAt: ended(40), conflicts: [{ file: 'a', lines: [], kind: 'content' }] }),
        merge(2, { state: 'merged', mergedCommit: '1be77a0123', endedAt: ended(30) }),
        merge(1, { state: 'merged', mergedCommit: '90d2c3e123', endedAt: ended(20) }),
      ],
    });
    expect(stations.map((station) => [station.merge.number, station.look])).toEqual([
      ['TAS-1', 'merged'], ['TAS-2', 'merged'], ['TAS-6', 'checking'], ['TAS-3', 'next'], ['TAS-4', 'queued'], ['TAS-5', 'held'], ['TAS-7', 'sentBack'],
    ]);
    expect(stations[1]?.line).toMatch(/^merged 1be77a0, /);
    expect(stations[4]?.line).toBe('1 before it');
    expect(stations[5]?.line).toBe('held: main has local changes');
    expect(stations[6]?.line).toMatch(/1 file does not fit$/);
  });

  it('tells of a task once, with what became of it last', () => {
    const back = merge(1, { id: 'merge_old', state: 'sent_back', endedAt: ended(10) });
    expect(trainOf({ merges: [merge(1, { position: 1 })], over: [back] }).map((station) => station.look)).toEqual(['next']);
    const merged = merge(1, { state: 'merged', endedAt: ended(20) });
    expect(trainOf({ merges: [], over: [merged, back] }).map((station) => station.look)).toEqual(['merged']);
  });

  it('moves while something waits, and says where it goes', () => {
    expect(isMoving(undefined)).toBe(false);
    expect(isMoving({ merges: [merge(1, { state: 'held' })] })).toBe(false);
    expect(isMoving({ merges: [merge(1, {})] })).toBe(true);
    expect(targetsOf(trainOf({ merges: [merge(1, {}), merge(2, { target: 'epic/1' })] }))).toBe('main and 1 more');
    expect(targetsOf(trainOf({ merges: [merge(1, { target: 'adjutant/epic/epic_6878544e2a1d044c' })] }))).toBe('epic d044c');
  });
});

describe('the list', () => {
  it('has what waits for a person, then what others look at', () => {
    const open = merge(3, {});
    const groups = groupsOf(
      [task(1), task(2, { supervisorId: 'sp_boss' }), task(3, { lastMerge: open })],
      [coder],
      [review(1, { coderId: 'sp_7' }), review(2, { coderId: 'sp_l' }), review(3, { coderId: 'sp_8', endedAt: 'x' })],
    );
    expect(groups.map((group) => [group.name, group.items.map((item) => item.id)])).toEqual([
      ['Waits for you', ['sp_1', 'sp_l']],
      ['With a reviewer', ['sp_7']],
      ['With a supervisor', ['sp_2']],
    ]);
    expect(groups[0]?.items.map((item) => item.line)).toEqual(['TAS-1, 3 files, 2 rounds', 'TAS-9, 3 of 3 reviews used: allow more or end']);
  });

  it('shows again what was sent back and handed in once more', () => {
    const back = merge(1, { state: 'sent_back', endedAt: 'x' });
    expect(groupsOf([task(1, { lastMerge: back })], [], [])).toHaveLength(1);
  });

  it('finds an item by agent, reviewer or task', () => {
    const groups = groupsOf([task(1)], [coder], [review(1, { coderId: 'sp_7', task: null })]);
    expect(itemOf(groups, 'TAS-1')?.id).toBe('sp_1');
    expect(itemOf(groups, 'sp_1')?.kind).toBe('approve');
    expect(itemOf(groups, 's9')?.kind).toBe('limit');
    expect(itemOf(groups, 'sp_r1')?.id).toBe('sp_7');
    expect(itemOf(groups, 'sp_none')).toBeNull();
    expect(itemOf(groups, null)).toBeNull();
  });
});

describe('notes', () => {
  const files = ['src/acks.rs', 'tests/acks.rs', 'src/store.rs'];

  it('stand under the one file that they name', () => {
    const said = review(2, { state: 'feedback', feedback: feedback('In `src/acks.rs` the last line is lost.', ['Name it in store.rs better', 'see acks.rs', 'src/acks.rs and src/store.rs clash']) });
    const notes = notesOf([review(1), said], files);
    expect(notes.get('src/acks.rs')?.map((note) => note.text)).toEqual(['In `src/acks.rs` the last line is lost.']);
    expect(notes.get('src/store.rs')).toHaveLength(1);
    expect(notes.get('')?.map((note) => note.text)).toEqual(['see acks.rs', 'src/acks.rs and src/store.rs clash']);
  });

  it('are not shown again as a file of the work', () => {
    const part = (path: string) => `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+diff --git a/x b/x\n`;
    const file = (path: string) => ({ path, oldPath: null, status: 'added', added: 1, removed: 0, binary: false });
    const diff: AgentDiff = {
      commits: [], rescued: null,
      branch: 'b', base: 'b', target: 'main', head: 'h', uncommitted: false, truncated: false, why: null,
      patch: part('a.txt') + part('REVIEW_FEEDBACK.md') + part('docs/REVIEW_FEEDBACK.md'),
      files: ['a.txt', 'REVIEW_FEEDBACK.md', 'docs/REVIEW_FEEDBACK.md'].map(file),
    };
    const work = withoutFeedback(diff);
    expect(work.patch).toBe(part('a.txt') + part('docs/REVIEW_FEEDBACK.md'));
    expect(work.files.map((one) => one.path)).toEqual(['a.txt', 'docs/REVIEW_FEEDBACK.md']);
  });

  it('say what a review came to', () => {
    expect(verdictOf(review(1, { state: 'feedback', feedback: feedback('x') }))).toBe('wants changes');
    expect(verdictOf(review(1, { state: 'approved' }))).toBe('approves');
    expect(verdictOf(review(1, { state: 'silent' }))).toBe('ended without a word');
  });
});

describe('seen files', () => {
  it('turn over, and are another matter for another commit', () => {
    expect([...toggled(new Set(['a']), 'b')]).toEqual(['a', 'b']);
    expect([...toggled(new Set(['a']), 'a')]).toEqual([]);
    sessionStorage.setItem('adjutant.seen.c1', '["a", 7]');
    sessionStorage.setItem('adjutant.seen.c2', 'broken');
    expect([...readSeen('c1')]).toEqual(['a']);
    expect([...readSeen('c2')]).toEqual([]);
    expect([...readSeen('c3')]).toEqual([]);
  });
});
