// Offered answers: their display, and the reply they produce.
import type { OfferView, ThreadMail } from '../../api/types';

export interface OfferText {
  readonly title: string;
  readonly detail: string | null;
}

const HEADLINE_PATTERN = /^(.{1,80}?)(?:: | — | – | - )(.+)$/s;

/** Splits an offered answer into headline and detail: "Hash of the path: two homes never meet". */
export function splitOffer(text: string): OfferText {
  const plain = text.replace(/^\*\*(.+?)\*\*/s, '$1');
  const parts = HEADLINE_PATTERN.exec(plain);
  // A colon inside code or a URL separates nothing.
  const quotes = (parts?.[1]?.match(/`/g)?.length ?? 0) % 2;
  if (parts === null || quotes === 1) return { title: plain, detail: null };
  return { title: parts[1] ?? plain, detail: parts[2] ?? null };
}

/** Builds the reply from the chosen offer and the additional text. */
export function buildReply(chosen: OfferView | null, text: string): string {
  const trimmed = text.trim();
  if (chosen === null) return trimmed;
  return trimmed === '' ? chosen.reply : `${chosen.reply}\n\n${trimmed}`;
}

/**
 * True if the reply can be sent. A permission needs one of the offers, because any other text
 * denies it.
 */
export function canSend(question: ThreadMail | null, chosen: OfferView | null, text: string): boolean {
  if (question?.kind === 'permission') return chosen !== null;
  return buildReply(chosen, text) !== '';
}

/** Removes the offered answers from a body; buttons below it show them. */
export function removeOffers(body: string, offers: readonly OfferView[]): string {
  if (offers.length === 0) return body;
  const lines = body.split('\n');
  const isOffer = (line: string, offer: OfferView) => {
    const match = /^\s*(?:\*\*)?(\d{1,2})[.)](?:\*\*)?\s+(.*)$/.exec(line);
    return match !== null && Number(match[1]) === offer.number && (match[2] ?? '').trim().startsWith(offer.text.slice(0, 200));
  };
  const last = offers.at(-1);
  const end = last === undefined ? -1 : lines.findLastIndex((line) => isOffer(line, last));
  let at = end;
  const droppedLines = new Set<number>();
  for (const offer of offers.toReversed()) {
    while (at >= 0 && !isOffer(lines[at] ?? '', offer)) at -= 1;
    if (at < 0) return body;
    droppedLines.add(at);
  }
  return lines
    .filter((_, line) => !droppedLines.has(line))
    .join('\n')
    .trim();
}
