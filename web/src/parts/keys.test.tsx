import { render } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { setSingleKeys, useKeys, type KeyHandlers } from './keys';

function KeyListener({ keys }: { readonly keys: KeyHandlers }) {
  useKeys(keys);
  return <input aria-label="field" />;
}

const press = (key: string, init: KeyboardEventInit = {}, target: EventTarget = document.body) =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init }));

afterEach(() => setSingleKeys(true));

test('keys, keys with shift, and sequences of two', () => {
  const keys = { x: vi.fn(), X: vi.fn(), 'g c': vi.fn(), c: vi.fn(), 'mod+k': vi.fn() };
  render(<KeyListener keys={keys} />);
  press('x');
  press('X');
  press('g');
  press('c');
  press('K', { ctrlKey: true });
  expect(Object.values(keys).map((key) => key.mock.calls.length)).toEqual([1, 1, 1, 0, 1]);
  press('c');
  expect(keys.c).toHaveBeenCalledOnce();
});

test('single keys are ignored while typing, keys with Ctrl are not', () => {
  const keys = { x: vi.fn(), 'mod+k': vi.fn() };
  const { getByLabelText } = render(<KeyListener keys={keys} />);
  press('x', {}, getByLabelText('field'));
  press('k', { metaKey: true }, getByLabelText('field'));
  expect(keys.x).not.toHaveBeenCalled();
  expect(keys['mod+k']).toHaveBeenCalledOnce();
});

test('single keys can be turned off', () => {
  const keys = { x: vi.fn() };
  render(<KeyListener keys={keys} />);
  setSingleKeys(false);
  press('x');
  expect(keys.x).not.toHaveBeenCalled();
});

test('the newest handler wins until its component unmounts', () => {
  const [below, above] = [vi.fn(), vi.fn()];
  render(<KeyListener keys={{ x: below }} />);
  const { unmount } = render(<KeyListener keys={{ x: above }} />);
  press('x');
  unmount();
  press('x');
  expect([below.mock.calls.length, above.mock.calls.length]).toEqual([1, 1]);
});
