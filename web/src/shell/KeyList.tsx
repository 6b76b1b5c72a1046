// List of all shortcuts, and the switch for single keys; shown by the help dialog and the settings.
import { useState } from 'react';
import { setSingleKeys, areSingleKeysOn } from '../parts/keys';
import { PAGES } from './pages';

/** All shortcuts, by area. */
const KEY_GROUPS: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['⌘K, Ctrl K', 'Palette: search, navigate, act, call a tool'],
      ['/', 'Filter a list'],
      ['n', 'Start an agent'],
      ['N', 'New task'],
      ['t', 'Switch between light and dark'],
      ['?', 'Show this list'],
      ['g n', 'Open the next item that needs you'],
      ...PAGES.map((page) => [`g ${page.key}`, page.name] as const),
    ],
  },
  {
    title: 'In lists and trees',
    keys: [
      ['j k, ↓ ↑', 'Move'],
      ['← →', 'Fold, unfold'],
      ['↵', 'Open'],
      ['esc', 'Go back'],
      ['.', 'Open the menu of a card'],
    ],
  },
  {
    title: 'An agent',
    keys: [
      ['m', 'Write mail to it'],
      ['a', 'Attach'],
      ['x', 'Kill'],
      ['X', 'Kill it and all agents it started'],
      ['f', 'Follow the stream'],
    ],
  },
  {
    title: 'Mail and reviews',
    keys: [
      ['1–9', 'Choose an offered answer'],
      ['⌘↵, Ctrl ↵', 'Send'],
      ['e', 'Mark as read'],
      ['[ ]', 'Go to the previous or next file'],
      ['v', 'Mark a file as seen'],
      ['c', 'Comment'],
      ['r', 'Send back'],
      ['A', 'Approve'],
    ],
  },
];

export function SingleKeysToggle({ className }: { readonly className: string | undefined }) {
  const [isOn, setIsOn] = useState(areSingleKeysOn);
  return (
    <label className={className}>
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => {
          setSingleKeys(event.target.checked);
          setIsOn(event.target.checked);
        }}
      />
      Single-key shortcuts
    </label>
  );
}

interface KeyListProps {
  readonly sectionClass?: string | undefined;
  readonly listClass: string | undefined;
}

export function KeyList({ sectionClass, listClass }: KeyListProps) {
  return KEY_GROUPS.map(({ title, keys }) => (
    <section key={title} className={sectionClass} aria-label={title}>
      <h3>{title}</h3>
      <dl className={listClass}>
        {keys.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </section>
  ));
}
