// Boxes of the mail page.
import type { MailBox } from '../../api/types';

export const MAIL_BOXES = ['me', 'agents', 'alerts', 'sent'] as const satisfies readonly MailBox[];
export type MailBoxName = (typeof MAIL_BOXES)[number];
