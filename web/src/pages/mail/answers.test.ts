import { describe, expect, it } from 'vitest';
import { canSend, replyOf, shownAs, withoutOffers } from './answers';
import type { Offer, ThreadLetter } from '../../api/types';

const offer = (number: number, text: string): Offer => ({ number, text, reply: `${number}. ${text}` });

describe('an offered answer', () => {
  it('has a headline and what goes with it', () => {
    expect(shownAs('Hash of the path: two homes never meet')).toEqual({ title: 'Hash of the path', detail: 'two homes never meet' });
    expect(shownAs('**Neither** — rows instead')).toEqual({ title: 'Neither', detail: 'rows instead' });
    expect(shownAs('One fixed number')).toEqual({ title: 'One fixed number', detail: null });
    expect(shownAs('use `a: b` here')).toEqual({ title: 'use `a: b` here', detail: null });
  });

  it('is sent as it was offered, with the words that go with it', () => {
    expect(replyOf(offer(2, 'One'), '')).toBe('2. One');
    expect(replyOf(offer(2, 'One'), ' but soon ')).toBe('2. One\n\nbut soon');
    expect(replyOf(null, ' plain ')).toBe('plain');
  });

  it('must be taken where leave is asked: another word would be a no', () => {
    const asked = { kind: 'permission' } as ThreadLetter;
    expect(canSend(asked, null, 'sure')).toBe(false);
    expect(canSend(asked, { number: 1, text: 'Allow', reply: 'allow' }, '')).toBe(true);
    expect(canSend(null, null, '  ')).toBe(false);
    expect(canSend(null, null, 'x')).toBe(true);
  });
});

describe('the body without its offers', () => {
  it('leaves the last list out and nothing else', () => {
    const body = 'Found:\n1. a\n2. b\n\nWhich?\n\n1. Left\n**2)** Right\n\nI wait.';
    expect(withoutOffers(body, [offer(1, 'Left'), offer(2, 'Right')])).toBe('Found:\n1. a\n2. b\n\nWhich?\n\n\nI wait.');
  });

  it('is whole where nothing is offered, or the offers are not found', () => {
    expect(withoutOffers('b', [])).toBe('b');
    expect(withoutOffers('b', [offer(1, 'x'), offer(2, 'y')])).toBe('b');
  });
});
