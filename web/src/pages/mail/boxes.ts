// Boxes of the mail page.
import type { LetterBox } from '../../api/types';

export const BOXES = ['me', 'agents', 'alerts', 'sent'] as const satisfies readonly LetterBox[];
export type Box = (typeof BOXES)[number];
