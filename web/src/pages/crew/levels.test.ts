import { describe, expect, it } from 'vitest';
import { sampleRow } from './sample';
import { EMPTY_TREE, ROOT, listAncestors, flattenTree, listMissingLevels, withHeldRows, withLevel, withNextPage, withOpen, withPastPage, withPastOpen, withPatchedRows, type TreeItem } from './levels';

const buildList = (rows: ReturnType<typeof sampleRow>[], past = 0, nextCursor: number | null = null) => ({ rows, past, nextCursor });
const describeItems = (items: readonly TreeItem[]) => items.map((item) => `${'.'.repeat(item.level - 1)}${item.kind === 'agent' ? item.id : item.kind}`);

/** Returns a lead with a coder (which has a reviewer) and an ended tester, beside a triage. */
function buildCrew() {
  let tree = withLevel(EMPTY_TREE, ROOT, buildList([sampleRow('lead', { children: 2, liveBelow: 2 }), sampleRow('triage')]));
  tree = withLevel(tree, 'lead', buildList([sampleRow('coder', { parentId: 'lead', children: 1, liveBelow: 1 }), sampleRow('tester', { parentId: 'lead', state: 'succeeded', finishedAt: '2026-11-15T14:01:00.000Z' })]));
  return withLevel(tree, 'coder', buildList([sampleRow('reviewer', { parentId: 'coder' })]));
}

describe('flatten', () => {
  it('unfolds agents with live descendants by default', () => {
    expect(describeItems(flattenTree(buildCrew(), false))).toEqual(['lead', '.coder', '..reviewer', '.tester', 'triage']);
  });

  it('sorts live agents and those with live descendants first', () => {
    const ended = { state: 'succeeded', finishedAt: '2026-11-15T14:01:00.000Z' } as const;
    const rows = [sampleRow('old', ended), sampleRow('one'), sampleRow('kept', { ...ended, liveBelow: 1 }), sampleRow('two')];
    const tree = withLevel(EMPTY_TREE, ROOT, buildList(rows));
    expect(tree.levels.get(ROOT)?.ids).toEqual(['one', 'kept', 'two', 'old']);
  });

  it('numbers each row among its siblings', () => {
    const [lead, coder, reviewer, tester] = flattenTree(buildCrew(), false);
    expect(lead).toMatchObject({ level: 1, pos: 1, size: 2, last: false, open: true });
    expect(coder).toMatchObject({ level: 2, pos: 1, size: 2, rails: [true] });
    expect(reviewer).toMatchObject({ level: 3, pos: 1, size: 1, rails: [true, true], last: true });
    expect(tester).toMatchObject({ level: 2, pos: 2, last: true, foldable: false });
  });

  it("keeps the visitor's folding, whatever changes below", () => {
    const folded = withOpen(buildCrew(), 'lead', false);
    expect(describeItems(flattenTree(folded, false))).toEqual(['lead', 'triage']);
    const patched = withPatchedRows(folded, [sampleRow('lead', { children: 3, liveBelow: 3 })], false);
    expect(describeItems(flattenTree(patched, false))).toEqual(['lead', 'triage']);
    const allEnded = withPatchedRows(buildCrew(), [sampleRow('lead', { children: 2, liveBelow: 0 })], false);
    expect(describeItems(flattenTree(allEnded, false))).toContain('.coder');
  });

  it('can be flat', () => {
    expect(describeItems(flattenTree(buildCrew(), true))).toEqual(['lead', 'triage']);
  });

  it('has a row for a loading level', () => {
    const tree = withLevel(EMPTY_TREE, ROOT, buildList([sampleRow('lead', { children: 1, liveBelow: 1 })]));
    const items = flattenTree(tree, false);
    expect(describeItems(items)).toEqual(['lead', '.loading']);
    expect(listMissingLevels(items)).toEqual(['lead']);
  });

  it('has one row for past agents, and one for the next page', () => {
    const tree = withLevel(EMPTY_TREE, ROOT, buildList([sampleRow('a')], 39, 7));
    expect(describeItems(flattenTree(tree, false))).toEqual(['a', 'more', 'past']);
    expect(flattenTree(tree, false)[0]?.size).toBe(-1);
    const opened = withPastPage(withPastOpen(tree, ROOT, true), ROOT, buildList([sampleRow('z', { state: 'failed' })], 0, 3));
    expect(describeItems(flattenTree(opened, false))).toEqual(['a', 'more', 'past', 'z', 'more']);
  });

  it('unfolds past agents if there are no others', () => {
    const tree = withLevel(EMPTY_TREE, ROOT, buildList([], 5));
    expect(flattenTree(tree, false)).toMatchObject([{ kind: 'past', count: 5, open: true }]);
  });
});

describe('patches', () => {
  it('change a row in place', () => {
    const tree = withPatchedRows(buildCrew(), [sampleRow('coder', { parentId: 'lead', state: 'failed', children: 1 })], false);
    expect(describeItems(flattenTree(tree, false))).toEqual(['lead', '.coder', '..reviewer', '.tester', 'triage']);
    expect(tree.rows.get('coder')?.state).toBe('failed');
  });

  it('insert a new row between live and ended ones', () => {
    const tree = withPatchedRows(buildCrew(), [sampleRow('scout', { parentId: 'lead' }), sampleRow('new')], false);
    expect(describeItems(flattenTree(tree, false))).toEqual(['lead', '.coder', '..reviewer', '.scout', '.tester', 'triage', 'new']);
  });

  it('hold new top-level rows back until they are requested', () => {
    const tree = withPatchedRows(buildCrew(), [sampleRow('new'), sampleRow('scout', { parentId: 'lead' })], true);
    expect(tree.held).toEqual(['new']);
    expect(describeItems(flattenTree(tree, false))).not.toContain('new');
    expect(describeItems(flattenTree(withHeldRows(tree), false))).toContain('new');
    expect(withHeldRows(tree).held).toEqual([]);
  });

  it('omit rows of a level that is not loaded', () => {
    const tree = withPatchedRows(buildCrew(), [sampleRow('deep', { parentId: 'reviewer' })], false);
    expect(describeItems(flattenTree(tree, false))).not.toContain('deep');
    expect(tree.rows.has('deep')).toBe(true);
  });

  it('append pages without repeating rows', () => {
    const tree = withNextPage(withLevel(EMPTY_TREE, ROOT, buildList([sampleRow('a'), sampleRow('b')], 0, 2)), ROOT, buildList([sampleRow('b'), sampleRow('c')]));
    expect(describeItems(flattenTree(tree, false))).toEqual(['a', 'b', 'c']);
  });
});

it('lists ancestors', () => {
  expect(listAncestors(buildCrew(), 'reviewer')).toEqual(['coder', 'lead']);
  expect(listAncestors(buildCrew(), 'nobody')).toEqual([]);
});
