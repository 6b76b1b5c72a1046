import { useState } from 'react';
import { Dialog } from '../parts/Dialog';
import { setSingleKeys, singleKeysOn } from './keys';
import { PAGES } from './pages';
import css from './KeysHelp.module.css';

/** Every key, by where it works. */
export const KEYS: readonly { readonly where: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    where: 'Everywhere',
    keys: [
      ['⌘K, Ctrl K', 'Palette: search, go, act, use a tool'],
      ['/', 'Filter'],
      ['n', 'Start an agent'],
      ['N', 'New task'],
      ['t', 'Light or dark'],
      ['?', 'This list'],
      ['g n', 'Next that needs you'],
      ...PAGES.map((page) => [`g ${page.key}`, page.name] as const),
    ],
  },
  {
    where: 'In lists and trees',
    keys: [
      ['j k, ↓ ↑', 'Move'],
      ['← →', 'Fold, unfold'],
      ['↵', 'Open'],
      ['esc', 'Back'],
      ['.', 'Menu of a card: Move to'],
    ],
  },
  {
    where: 'An agent',
    keys: [
      ['m', 'Write to it'],
      ['a', 'Attach'],
      ['x', 'Kill'],
      ['X', 'Kill it and all it started'],
      ['f', 'Follow the stream'],
    ],
  },
  {
    where: 'Mail and reviews',
    keys: [
      ['1–9', 'Take an offered answer'],
      ['⌘↵, Ctrl ↵', 'Send'],
      ['e', 'Done with it'],
      ['[ ]', 'Previous and next file'],
      ['v', 'Seen'],
      ['c', 'Comment'],
      ['r', 'Send back'],
      ['A', 'Approve'],
    ],
  },
];

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const [on, setOn] = useState(singleKeysOn);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <label className="row">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => {
            setSingleKeys(event.target.checked);
            setOn(event.target.checked);
          }}
        />
        Single keys act
      </label>
      {KEYS.map((group) => (
        <section key={group.where}>
          <h3>{group.where}</h3>
          <dl className={css.keys}>
            {group.keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
