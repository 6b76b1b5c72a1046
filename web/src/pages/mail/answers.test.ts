import { describe, expect, it } from 'vitest';
import { canSend, buildReply, splitOffer, removeOffers } from './answers';
import type { OfferView, ThreadMail } from '../../api/types';

const offer = (number: number, text: string): OfferView => ({ number, text, reply: `${number}. ${text}` });

describe('an offered answer', () => {
  it('has a headline and a detail', () => {
    expect(splitOffer('Hash of the path: two homes never meet')).toEqual({ title: 'Hash of the path', detail: 'two homes never meet' });
    expect(splitOffer('**Neither** — rows instead')).toEqual({ title: 'Neither', detail: 'rows instead' });
    expect(splitOffer('One fixed number')).toEqual({ title: 'One fixed number', detail: null });
    expect(splitOffer('use `a: b` here')).toEqual({ title: 'use `a: b` here', detail: null });
  });

  it('is sent as offered, with the additional text', () => {
    expect(buildReply(offer(2, 'One'), '')).toBe('2. One');
    expect(buildReply(offer(2, 'One'), ' but soon ')).toBe('2. One\n\nbut soon');
    expect(buildReply(null, ' plain ')).toBe('plain');
  });

  it('is required for a permission, which any other text would deny', () => {
    const question = { kind: 'permission' } as ThreadMail;
    expect(canSend(question, null, 'sure')).toBe(false);
    expect(canSend(question, { number: 1, text: 'Allow', reply: 'allow' }, '')).toBe(true);
    expect(canSend(null, null, '  ')).toBe(false);
    expect(canSend(null, null, 'x')).toBe(true);
  });
});

describe('the body without its offers', () => {
  it('omits the last list and nothing else', () => {
    const body = 'Found:\n1. a\n2. b\n\nWhich?\n\n1. Left\n**2)** Right\n\nI wait.';
    expect(removeOffers(body, [offer(1, 'Left'), offer(2, 'Right')])).toBe('Found:\n1. a\n2. b\n\nWhich?\n\n\nI wait.');
  });

  it('is unchanged without offers, or if they are not found', () => {
    expect(removeOffers('b', [])).toBe('b');
    expect(removeOffers('b', [offer(1, 'x'), offer(2, 'y')])).toBe('b');
  });
});
