import { describe, expect, it } from 'vitest';
import { row } from './sample';
import { EMPTY, ROOT, above, flatten, missing, withHeld, withLevel, withMore, withOpen, withPast, withPastOpen, withPatch, type Item } from './levels';

const list = (rows: ReturnType<typeof row>[], past = 0, nextCursor: number | null = null) => ({ rows, past, nextCursor });
const names = (items: readonly Item[]) => items.map((item) => `${'.'.repeat(item.level - 1)}${item.kind === 'agent' ? item.id : item.kind}`);

/** Returns a lead with a coder (which has a reviewer) and an ended tester, beside a triage. */
function crew() {
  let tree = withLevel(EMPTY, ROOT, list([row('lead', { children: 2, liveBelow: 2 }), row('triage')]));
  tree = withLevel(tree, 'lead', list([row('coder', { parentId: 'lead', children: 1, liveBelow: 1 }), row('tester', { parentId: 'lead', state: 'succeeded', finishedAt: '2026-11-15T14:01:00.000Z' })]));
  return withLevel(tree, 'coder', list([row('reviewer', { parentId: 'coder' })]));
}

describe('flatten', () => {
  it('unfolds who has live ones below, at first', () => {
    expect(names(flatten(crew(), false))).toEqual(['lead', '.coder', '..reviewer', '.tester', 'triage']);
  });

  it('has the live ones first, and those with live ones below', () => {
    const over = { state: 'succeeded', finishedAt: '2026-11-15T14:01:00.000Z' } as const;
    const rows = [row('old', over), row('one'), row('kept', { ...over, liveBelow: 1 }), row('two')];
    const tree = withLevel(EMPTY, ROOT, list(rows));
    expect(tree.levels.get(ROOT)?.ids).toEqual(['one', 'kept', 'two', 'old']);
  });

  it('tells each row its place among its like', () => {
    const [lead, coder, reviewer, tester] = flatten(crew(), false);
    expect(lead).toMatchObject({ level: 1, pos: 1, size: 2, last: false, open: true });
    expect(coder).toMatchObject({ level: 2, pos: 1, size: 2, rails: [true] });
    expect(reviewer).toMatchObject({ level: 3, pos: 1, size: 1, rails: [true, true], last: true });
    expect(tester).toMatchObject({ level: 2, pos: 2, last: true, foldable: false });
  });

  it('folds and unfolds as the reader says, whatever happens below', () => {
    const folded = withOpen(crew(), 'lead', false);
    expect(names(flatten(folded, false))).toEqual(['lead', 'triage']);
    const later = withPatch(folded, [row('lead', { children: 3, liveBelow: 3 })], false);
    expect(names(flatten(later, false))).toEqual(['lead', 'triage']);
    const allEnded = withPatch(crew(), [row('lead', { children: 2, liveBelow: 0 })], false);
    expect(names(flatten(allEnded, false))).toContain('.coder');
  });

  it('is flat where a list is wanted', () => {
    expect(names(flatten(crew(), true))).toEqual(['lead', 'triage']);
  });

  it('shows that an unfolded level is on its way', () => {
    const tree = withLevel(EMPTY, ROOT, list([row('lead', { children: 1, liveBelow: 1 })]));
    const items = flatten(tree, false);
    expect(names(items)).toEqual(['lead', '.loading']);
    expect(missing(items)).toEqual(['lead']);
  });

  it('has one row for all that ended long ago, and a row for what comes after a page', () => {
    const tree = withLevel(EMPTY, ROOT, list([row('a')], 39, 7));
    expect(names(flatten(tree, false))).toEqual(['a', 'more', 'past']);
    expect(flatten(tree, false)[0]?.size).toBe(-1);
    const opened = withPast(withPastOpen(tree, ROOT, true), ROOT, list([row('z', { state: 'failed' })], 0, 3));
    expect(names(flatten(opened, false))).toEqual(['a', 'more', 'past', 'z', 'more']);
  });

  it('unfolds the past at once where there is nothing else', () => {
    const tree = withLevel(EMPTY, ROOT, list([], 5));
    expect(flatten(tree, false)).toMatchObject([{ kind: 'past', count: 5, open: true }]);
  });
});

describe('patches', () => {
  it('changes a row in its place', () => {
    const tree = withPatch(crew(), [row('coder', { parentId: 'lead', state: 'failed', children: 1 })], false);
    expect(names(flatten(tree, false))).toEqual(['lead', '.coder', '..reviewer', '.tester', 'triage']);
    expect(tree.rows.get('coder')?.state).toBe('failed');
  });

  it('puts a new one behind the live ones of its level, before those that have ended', () => {
    const tree = withPatch(crew(), [row('scout', { parentId: 'lead' }), row('new')], false);
    expect(names(flatten(tree, false))).toEqual(['lead', '.coder', '..reviewer', '.scout', '.tester', 'triage', 'new']);
  });

  it('holds new roots back while the reader is further down, and shows them when asked', () => {
    const tree = withPatch(crew(), [row('new'), row('scout', { parentId: 'lead' })], true);
    expect(tree.held).toEqual(['new']);
    expect(names(flatten(tree, false))).not.toContain('new');
    expect(names(flatten(withHeld(tree), false))).toContain('new');
    expect(withHeld(tree).held).toEqual([]);
  });

  it('leaves out who belongs to a level that is not there', () => {
    const tree = withPatch(crew(), [row('deep', { parentId: 'reviewer' })], false);
    expect(names(flatten(tree, false))).not.toContain('deep');
    expect(tree.rows.has('deep')).toBe(true);
  });

  it('joins pages without repeating anybody', () => {
    const tree = withMore(withLevel(EMPTY, ROOT, list([row('a'), row('b')], 0, 2)), ROOT, list([row('b'), row('c')]));
    expect(names(flatten(tree, false))).toEqual(['a', 'b', 'c']);
  });
});

it('knows who stands above', () => {
  expect(above(crew(), 'reviewer')).toEqual(['coder', 'lead']);
  expect(above(crew(), 'nobody')).toEqual([]);
});
