// List of all shortcuts, and the switch for single keys; shown by the help dialog and the settings.
import { useState } from 'react';
import { setSingleKeys, singleKeysOn } from '../parts/keys';
import { PAGES } from './pages';

/** All shortcuts, by area. */
const KEYS: readonly { readonly where: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    where: 'Everywhere',
    keys: [
      ['⌘K, Ctrl K', 'Palette: search, navigate, act, call a tool'],
      ['/', 'Filter'],
      ['n', 'Start an agent'],
      ['N', 'New task'],
      ['t', 'Light or dark'],
      ['?', 'This list'],
      ['g n', 'Next item that needs you'],
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
      ['X', 'Kill it and all agents it started'],
      ['f', 'Follow the stream'],
    ],
  },
  {
    where: 'Mail and reviews',
    keys: [
      ['1–9', 'Choose an offered answer'],
      ['⌘↵, Ctrl ↵', 'Send'],
      ['e', 'Mark as done'],
      ['[ ]', 'Previous and next file'],
      ['v', 'Seen'],
      ['c', 'Comment'],
      ['r', 'Send back'],
      ['A', 'Approve'],
    ],
  },
];

export function SingleKeys({ className }: { readonly className: string | undefined }) {
  const [on, setOn] = useState(singleKeysOn);
  return (
    <label className={className}>
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => {
          setSingleKeys(event.target.checked);
          setOn(event.target.checked);
        }}
      />
      Single-key shortcuts
    </label>
  );
}

interface Props {
  readonly sectionClass?: string | undefined;
  readonly listClass: string | undefined;
}

export function KeyList({ sectionClass, listClass }: Props) {
  return KEYS.map(({ where, keys }) => (
    <section key={where} className={sectionClass} aria-label={where}>
      <h3>{where}</h3>
      <dl className={listClass}>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  ));
}
