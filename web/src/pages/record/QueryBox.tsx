// Query input: terms as chips, free text, and a list of suggestions.
import { Search, X } from 'lucide-react';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { useKeys } from '../../parts/keys';
import { parse, settled, shown, suggest, write, type Key, type Suggestion } from './query';
import css from './QueryBox.module.css';

interface Props {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly known: Partial<Record<Key, readonly Suggestion[]>>;
}

/** Delay before free text is searched while the visitor types. */
const PAUSE_MS = 400;

export function QueryBox({ value, onChange, known }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const { terms, words } = parse(value);
  const [draft, setDraft] = useState(words);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  useKeys({ '/': () => input.current?.focus() });

  // A change from outside, such as a new address, replaces the typed text.
  const told = useRef(words);
  if (told.current !== words) {
    told.current = words;
    if (words !== draft.trim()) setDraft(words);
  }

  const tell = (text: string) => {
    told.current = parse(text).words;
    onChange(text);
  };
  const commit = (text: string, typing = '') => {
    const typed = parse(text);
    setDraft([typed.words, typing].filter(Boolean).join(' '));
    tell(write(parse([write({ terms, words: '' }), write(typed)].join(' '))));
  };
  const later = draft.trim() !== words && !draft.includes(':');
  useEffect(() => {
    if (!later) return;
    const timer = setTimeout(() => tell(write({ terms, words: draft })), PAUSE_MS);
    return () => clearTimeout(timer);
    // Depends only on the typed text, which restarts the delay.
  }, [draft, later]);

  const piece = /\S*$/.exec(draft)?.[0] ?? '';
  const offers = open ? suggest(piece, known) : [];
  const take = (offer: Suggestion) => {
    const rest = draft.slice(0, draft.length - piece.length);
    setActive(-1);
    if (offer.text.endsWith(':')) setDraft(rest + offer.text);
    else commit(rest + offer.text);
    input.current?.focus();
  };
  const type = (text: string) => {
    setOpen(true);
    setActive(-1);
    const { done, typing } = settled(text);
    if (done === null) setDraft(text);
    else commit(done, typing);
  };
  const remove = (key: Key) => tell(write({ terms: terms.filter((term) => term.key !== key), words: draft }));

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event;
    const offer = offers[active];
    const last = terms.at(-1);
    if ((key === 'ArrowDown' || key === 'ArrowUp') && offers.length > 0) {
      setActive((active + (key === 'ArrowDown' ? 1 : -1) + offers.length + 1) % (offers.length + 1));
    } else if ((key === 'Enter' || key === 'Tab') && offer !== undefined) {
      take(offer);
    } else if (key === 'Enter') {
      setOpen(false);
      commit(draft);
      return;
    } else if (key === 'Escape') {
      event.stopPropagation();
      if (offers.length > 0) setOpen(false);
      else input.current?.blur();
    } else if (key === 'Backspace' && draft === '' && last !== undefined) {
      setDraft(`${last.key}:${last.value}`);
      tell(write({ terms: terms.slice(0, -1), words: '' }));
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <div className={css.box} onClick={() => input.current?.focus()}>
      <Search size={12} aria-hidden="true" />
      {terms.map((term) => (
        <span key={term.key} className={css.chip}>
          {shown(term)}
          <button type="button" aria-label={`Remove ${shown(term)}`} onClick={() => remove(term.key)}>
            <X size={10} aria-hidden="true" />
          </button>
        </span>
      ))}
      <input
        ref={input}
        role="combobox"
        aria-label="Search the record"
        aria-expanded={offers.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 && active < offers.length ? `${id}-${active}` : undefined}
        placeholder={terms.length > 2 ? 'or any words' : 'agent: outcome: task: commit: or any words'}
        maxLength={200}
        value={draft}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => type(event.target.value)}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          if (draft.trim() !== words) commit(draft);
        }}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id={`${id}-list`} role="listbox" aria-label="What can be looked for" className={css.offers} hidden={offers.length === 0}>
        {offers.map((offer, at) => (
          <li
            key={offer.text}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === active}
            // A press would move the focus from the input, which closes the list.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(offer)}
          >
            <code>{offer.text}</code>
            <span className="dim cut">{offer.hint}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
