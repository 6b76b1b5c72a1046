// Offered answers: their display, and the reply they produce.
import type { Offer, ThreadLetter } from '../../api/types';

export interface Shown {
  readonly title: string;
  readonly detail: string | null;
}

const PARTS = /^(.{1,80}?)(?:: | — | – | - )(.+)$/s;

/** Splits an offered answer into headline and detail: "Hash of the path: two homes never meet". */
export function shownAs(text: string): Shown {
  const plain = text.replace(/^\*\*(.+?)\*\*/s, '$1');
  const parts = PARTS.exec(plain);
  // A colon inside code or a URL separates nothing.
  const quotes = (parts?.[1]?.match(/`/g)?.length ?? 0) % 2;
  if (parts === null || quotes === 1) return { title: plain, detail: null };
  return { title: parts[1] ?? plain, detail: parts[2] ?? null };
}

/** Builds the reply from the chosen offer and the additional text. */
export function replyOf(taken: Offer | null, words: string): string {
  const own = words.trim();
  if (taken === null) return own;
  return own === '' ? taken.reply : `${taken.reply}\n\n${own}`;
}

/**
 * True if the reply can be sent. A permission needs one of the offers, because any other text
 * denies it.
 */
export function canSend(asked: ThreadLetter | null, taken: Offer | null, words: string): boolean {
  if (asked?.kind === 'permission') return taken !== null;
  return replyOf(taken, words) !== '';
}

/** Removes the offered answers from a body; buttons below it show them. */
export function withoutOffers(body: string, offers: readonly Offer[]): string {
  if (offers.length === 0) return body;
  const lines = body.split('\n');
  const isOffer = (line: string, offer: Offer) => {
    const found = /^\s*(?:\*\*)?(\d{1,2})[.)](?:\*\*)?\s+(.*)$/.exec(line);
    return found !== null && Number(found[1]) === offer.number && (found[2] ?? '').trim().startsWith(offer.text.slice(0, 200));
  };
  const last = offers.at(-1);
  const end = last === undefined ? -1 : lines.findLastIndex((line) => isOffer(line, last));
  let at = end;
  const drop = new Set<number>();
  for (const offer of offers.toReversed()) {
    while (at >= 0 && !isOffer(lines[at] ?? '', offer)) at -= 1;
    if (at < 0) return body;
    drop.add(at);
  }
  return lines
    .filter((_, line) => !drop.has(line))
    .join('\n')
    .trim();
}
