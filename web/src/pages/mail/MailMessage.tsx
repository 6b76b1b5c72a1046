// One piece of mail with its body and its offered answers.
import { Check, CircleCheck, CircleX } from 'lucide-react';
import { Timestamp } from '../../parts/Elapsed';
import { Markdown } from '../../parts/Markdown';
import { StateIcon } from '../../parts/State';
import { splitOffer, removeOffers } from './answers';
import type { OfferView, ThreadMail } from '../../api/types';
import { getPersonName } from './threads';
import css from './MailMessage.module.css';

interface Props {
  readonly mail: ThreadMail;
  /** True for the question that the reply box answers. */
  readonly isOpenQuestion: boolean;
  readonly chosen: number | null;
  /** Null for read-only visitors. */
  readonly onChoose: ((number: number) => void) | null;
}

function Offers({ offers, chosen, onChoose }: { readonly offers: readonly OfferView[]; readonly chosen: number | null; readonly onChoose: (number: number) => void }) {
  return (
    <div className={css.offers} role="radiogroup" aria-label="Offered answers">
      {offers.map((offer) => {
        const { title, detail } = splitOffer(offer.text);
        return (
          <button key={offer.number} type="button" role="radio" aria-checked={offer.number === chosen} onClick={() => onChoose(offer.number)}>
            <kbd aria-hidden="true">{offer.number}</kbd>
            <span className={css.offer}>
              <span className="strong">{title}</span>
              {detail !== null && <span className="small dim">{detail}</span>}
            </span>
            {offer.number === chosen && <Check size={16} aria-hidden="true" />}
          </button>
        );
      })}
    </div>
  );
}

function SettledNote({ mail }: { readonly mail: ThreadMail }) {
  const { settled } = mail;
  if (settled === null) {
    if (mail.needsAnswer || !mail.to.human || (mail.kind !== 'question' && mail.kind !== 'permission')) return null;
    return <p className={`small dim ${css.settled}`}>{getPersonName(mail.from)} has ended; no answer is needed.</p>;
  }
  const Icon = settled.allowed === false ? CircleX : CircleCheck;
  const label = settled.allowed === null ? 'Answered' : settled.allowed ? 'Allowed' : 'Denied';
  return (
    <p className={`small dim ${css.settled}`}>
      <Icon size={12} aria-hidden="true" /> {label} by {getPersonName(settled.by)} at <Timestamp at={settled.at} />
    </p>
  );
}

export function MailMessage({ mail, isOpenQuestion, chosen, onChoose }: Props) {
  const { request } = mail;
  const offers = isOpenQuestion && onChoose !== null ? mail.options : [];
  return (
    <article className={css.message} aria-label={`${getPersonName(mail.from)} to ${getPersonName(mail.to)}`}>
      <header>
        {mail.from.state !== null && <StateIcon state={mail.from.state} />}
        <span className="strong">{getPersonName(mail.from)}</span>
        <span className="small dim">to {getPersonName(mail.to)}</span>
        <span className="grow" />
        <span className="tiny dim">
          <Timestamp at={mail.createdAt} />
        </span>
      </header>
      <div className={css.body}>
        {request === null ? (
          <Markdown text={removeOffers(mail.body, offers)} />
        ) : (
          <>
            <p>
              It asks for permission to use <code>{request.tool}</code> with:
            </p>
            <pre className={css.input}>{request.input}</pre>
          </>
        )}
        {mail.cut && <p className="small dim">Only the beginning of this long message is shown.</p>}
        {offers.length > 0 && onChoose !== null && <Offers offers={offers} chosen={chosen} onChoose={onChoose} />}
        <SettledNote mail={mail} />
      </div>
    </article>
  );
}
