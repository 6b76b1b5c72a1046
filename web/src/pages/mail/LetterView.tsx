// One piece of mail with its body and its offered answers.
import { Check, CircleCheck, CircleX } from 'lucide-react';
import { At } from '../../parts/Elapsed';
import { Markdown } from '../../parts/Markdown';
import { StateIcon } from '../../parts/State';
import { shownAs, withoutOffers } from './answers';
import type { Offer, ThreadLetter } from '../../api/types';
import { nameOf } from './threads';
import css from './LetterView.module.css';

interface Props {
  readonly letter: ThreadLetter;
  /** True for the question that the reply box answers. */
  readonly open: boolean;
  readonly taken: number | null;
  /** Null for read-only visitors. */
  readonly onTake: ((number: number) => void) | null;
}

function Offers({ offers, taken, onTake }: { readonly offers: readonly Offer[]; readonly taken: number | null; readonly onTake: (number: number) => void }) {
  return (
    <div className={css.offers} role="radiogroup" aria-label="Offered answers">
      {offers.map((offer) => {
        const { title, detail } = shownAs(offer.text);
        return (
          <button key={offer.number} type="button" role="radio" aria-checked={offer.number === taken} onClick={() => onTake(offer.number)}>
            <kbd aria-hidden="true">{offer.number}</kbd>
            <span className={css.offer}>
              <span className="strong">{title}</span>
              {detail !== null && <span className="small dim">{detail}</span>}
            </span>
            {offer.number === taken && <Check size={16} aria-hidden="true" />}
          </button>
        );
      })}
    </div>
  );
}

function Settled({ letter }: { readonly letter: ThreadLetter }) {
  const { settled } = letter;
  if (settled === null) {
    if (letter.needsAnswer || !letter.to.human || (letter.kind !== 'question' && letter.kind !== 'permission')) return null;
    return <p className={`small dim ${css.settled}`}>{nameOf(letter.from)} has ended; no answer is needed.</p>;
  }
  const Icon = settled.allowed === false ? CircleX : CircleCheck;
  const word = settled.allowed === null ? 'Answered' : settled.allowed ? 'Allowed' : 'Denied';
  return (
    <p className={`small dim ${css.settled}`}>
      <Icon size={12} aria-hidden="true" /> {word} by {nameOf(settled.by)} at <At at={settled.at} />
    </p>
  );
}

export function LetterView({ letter, open, taken, onTake }: Props) {
  const { request } = letter;
  const offers = open && onTake !== null ? letter.options : [];
  return (
    <article className={css.letter} aria-label={`${nameOf(letter.from)} to ${nameOf(letter.to)}`}>
      <header>
        {letter.from.state !== null && <StateIcon state={letter.from.state} />}
        <span className="strong">{nameOf(letter.from)}</span>
        <span className="small dim">to {nameOf(letter.to)}</span>
        <span className="grow" />
        <span className="tiny dim">
          <At at={letter.createdAt} />
        </span>
      </header>
      <div className={css.body}>
        {request === null ? (
          <Markdown text={withoutOffers(letter.body, offers)} />
        ) : (
          <>
            <p>
              It asks for permission to use <code>{request.tool}</code> with:
            </p>
            <pre className={css.input}>{request.input}</pre>
          </>
        )}
        {letter.cut && <p className="small dim">Only the beginning of this long thread is shown.</p>}
        {offers.length > 0 && onTake !== null && <Offers offers={offers} taken={taken} onTake={onTake} />}
        <Settled letter={letter} />
      </div>
    </article>
  );
}
