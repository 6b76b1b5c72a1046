import { render } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { setSingleKeys, useKeys, type Keys } from './keys';

function Listens({ keys }: { readonly keys: Keys }) {
  useKeys(keys);
  return <input aria-label="field" />;
}

const press = (key: string, init: KeyboardEventInit = {}, target: EventTarget = document.body) =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init }));

afterEach(() => setSingleKeys(true));

test('keys, keys with shift, and sequences of two', () => {
  const keys = { x: vi.fn(), X: vi.fn(), 'g c': vi.fn(), c: vi.fn(), 'mod+k': vi.fn() };
  render(<Listens keys={keys} />);
  press('x');
  press('X');
  press('g');
  press('c');
  press('K', { ctrlKey: true });
  expect(Object.values(keys).map((key) => key.mock.calls.length)).toEqual([1, 1, 1, 0, 1]);
  press('c');
  expect(keys.c).toHaveBeenCalledOnce();
});

test('somebody who types is left alone, but for keys with control', () => {
  const keys = { x: vi.fn(), 'mod+k': vi.fn() };
  const { getByLabelText } = render(<Listens keys={keys} />);
  press('x', {}, getByLabelText('field'));
  press('k', { metaKey: true }, getByLabelText('field'));
  expect(keys.x).not.toHaveBeenCalled();
  expect(keys['mod+k']).toHaveBeenCalledOnce();
});

test('single keys can be turned off', () => {
  const keys = { x: vi.fn() };
  render(<Listens keys={keys} />);
  setSingleKeys(false);
  press('x');
  expect(keys.x).not.toHaveBeenCalled();
});

test('the newest wish wins, and goes with its component', () => {
  const [below, above] = [vi.fn(), vi.fn()];
  render(<Listens keys={{ x: below }} />);
  const { unmount } = render(<Listens keys={{ x: above }} />);
  press('x');
  unmount();
  press('x');
  expect([below.mock.calls.length, above.mock.calls.length]).toEqual([1, 1]);
});
