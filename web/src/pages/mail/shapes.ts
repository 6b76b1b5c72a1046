// Letters as the server shows them.

export interface Person {
  readonly agentId: string | null;
  readonly role: string | null;
  readonly short: string | null;
  readonly state: string | null;
  readonly human: boolean;
}

export type LetterKind = 'question' | 'permission' | 'alert' | 'letter';

export interface Letter {
  readonly id: string;
  readonly threadId: string;
  readonly from: Person;
  readonly to: Person;
  readonly subject: string;
  readonly preview: string;
  readonly createdAt: string;
  readonly readAt: string | null;
  readonly kind: LetterKind;
  readonly needsAnswer: boolean;
  readonly replies: number;
}

export interface Letters {
  readonly letters: readonly Letter[];
  readonly nextCursor: number | null;
}

export interface Offer {
  readonly number: number;
  readonly text: string;
  /** What to reply to take it. */
  readonly reply: string;
}

export interface WholeLetter extends Letter {
  readonly body: string;
  readonly cut: boolean;
  readonly options: readonly Offer[];
  readonly request: { readonly tool: string; readonly input: string } | null;
  readonly settled: { readonly by: Person; readonly mailId: string; readonly at: string; readonly allowed: boolean | null } | null;
}

export interface Thread {
  readonly threadId: string;
  readonly subject: string;
  readonly letters: readonly WholeLetter[];
  readonly leftOut: number;
  readonly with: Person | null;
  readonly replyTo: string | null;
  readonly wakes: boolean;
  readonly waitsBehind: readonly { readonly taskNumber: number; readonly title: string }[];
}

export const BOXES = ['me', 'agents', 'alerts', 'sent'] as const;
export type Box = (typeof BOXES)[number];
