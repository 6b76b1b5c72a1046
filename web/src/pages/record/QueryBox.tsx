// Query input: terms as chips, free text, and a list of suggestions.
import { Search, X } from 'lucide-react';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { useKeys } from '../../parts/keys';
import { parseQuery, splitTyped, formatTerm, suggestTerms, formatQuery, type TermKey, type Suggestion } from './query';
import css from './QueryBox.module.css';

interface Props {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly knownValues: Partial<Record<TermKey, readonly Suggestion[]>>;
}

/** Delay before free text is searched while the visitor types. */
const TYPING_DELAY_MS = 400;

export function QueryBox({ value, onChange, knownValues }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const { terms, words } = parseQuery(value);
  const [draft, setDraft] = useState(words);
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(-1);
  useKeys({ '/': () => input.current?.focus() });

  // A change from outside, such as a new address, replaces the typed text.
  const reportedWords = useRef(words);
  if (reportedWords.current !== words) {
    reportedWords.current = words;
    if (words !== draft.trim()) setDraft(words);
  }

  const report = (text: string) => {
    reportedWords.current = parseQuery(text).words;
    onChange(text);
  };
  const commit = (text: string, typing = '') => {
    const typed = parseQuery(text);
    setDraft([typed.words, typing].filter(Boolean).join(' '));
    report(formatQuery(parseQuery([formatQuery({ terms, words: '' }), formatQuery(typed)].join(' '))));
  };
  const isPending = draft.trim() !== words && !draft.includes(':');
  useEffect(() => {
    if (!isPending) return;
    const timer = setTimeout(() => report(formatQuery({ terms, words: draft })), TYPING_DELAY_MS);
    return () => clearTimeout(timer);
    // Depends only on the typed text, which restarts the delay.
  }, [draft, isPending]);

  const piece = /\S*$/.exec(draft)?.[0] ?? '';
  const offers = isOpen ? suggestTerms(piece, knownValues) : [];
  const acceptOffer = (offer: Suggestion) => {
    const rest = draft.slice(0, draft.length - piece.length);
    setActive(-1);
    if (offer.text.endsWith(':')) setDraft(rest + offer.text);
    else commit(rest + offer.text);
    input.current?.focus();
  };
  const type = (text: string) => {
    setIsOpen(true);
    setActive(-1);
    const { done: completed, typing } = splitTyped(text);
    if (completed === null) setDraft(text);
    else commit(completed, typing);
  };
  const remove = (key: TermKey) => report(formatQuery({ terms: terms.filter((term) => term.key !== key), words: draft }));

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key } = event;
    const offer = offers[active];
    const last = terms.at(-1);
    if ((key === 'ArrowDown' || key === 'ArrowUp') && offers.length > 0) {
      setActive((active + (key === 'ArrowDown' ? 1 : -1) + offers.length + 1) % (offers.length + 1));
    } else if ((key === 'Enter' || key === 'Tab') && offer !== undefined) {
      acceptOffer(offer);
    } else if (key === 'Enter') {
      setIsOpen(false);
      commit(draft);
      return;
    } else if (key === 'Escape') {
      event.stopPropagation();
      if (offers.length > 0) setIsOpen(false);
      else input.current?.blur();
    } else if (key === 'Backspace' && draft === '' && last !== undefined) {
      setDraft(`${last.key}:${last.value}`);
      report(formatQuery({ terms: terms.slice(0, -1), words: '' }));
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
          {formatTerm(term)}
          <button type="button" aria-label={`Remove ${formatTerm(term)}`} onClick={() => remove(term.key)}>
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
        placeholder={terms.length > 2 ? 'or any text' : 'agent: outcome: task: commit: or any text'}
        maxLength={200}
        value={draft}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => type(event.target.value)}
        onFocus={() => setIsOpen(true)}
        onBlur={() => {
          setIsOpen(false);
          if (draft.trim() !== words) commit(draft);
        }}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id={`${id}-list`} role="listbox" aria-label="Suggestions" className={css.offers} hidden={offers.length === 0}>
        {offers.map((offer, at) => (
          <li
            key={offer.text}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === active}
            // A press would move the focus from the input, which closes the list.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => acceptOffer(offer)}
          >
            <code>{offer.text}</code>
            <span className="dim cut">{offer.hint}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
