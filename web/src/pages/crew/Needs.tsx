import { ChevronRight, ChevronUp, Eye, GitMerge, GitPullRequest, MessageCircleQuestionMark, TriangleAlert, Wallet, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useOverview, useReadOnly } from '../../api/overview';
import type { Need } from '../../api/types';
import { Button } from '../../parts/Button';
import { Elapsed } from '../../parts/Elapsed';
import { openStart } from '../../shell/open';
import type { Room } from '../../parts/media';
import css from './Needs.module.css';

/** Number of requests shown side by side; the rest waits behind a button. */
const SHOWN = 3;
const FEW: Readonly<Record<Room, number>> = { phone: 1, narrow: 2, wide: SHOWN };

interface Look {
  readonly icon: LucideIcon;
  /** Label of the action that settles the request. */
  readonly verb: string;
  readonly state: string;
}

const LOOKS: Readonly<Record<Need['kind'], Look>> = {
  question: { icon: MessageCircleQuestionMark, verb: 'Answer', state: 'waiting_input' },
  permission: { icon: MessageCircleQuestionMark, verb: 'Answer', state: 'waiting_input' },
  review: { icon: GitPullRequest, verb: 'Review', state: 'waiting_input' },
  reviewLimit: { icon: Eye, verb: 'Decide', state: 'waiting_review' },
  budget: { icon: Wallet, verb: 'Resume', state: 'over_budget' },
  merge: { icon: GitMerge, verb: 'Look', state: 'failed' },
  mail: { icon: TriangleAlert, verb: 'Read', state: 'failed' },
};

function Settle({ need, first }: { readonly need: Need; readonly first: boolean }) {
  const readOnly = useReadOnly();
  const { verb } = LOOKS[need.kind];
  const { agentId } = need;
  if (need.kind === 'budget' && agentId !== null && !readOnly) {
    return (
      <Button small onClick={() => openStart({ resume: agentId })}>
        Resume
      </Button>
    );
  }
  return (
    <Link href={need.href} className={first ? `${css.settle} ${css.first}` : css.settle}>
      {readOnly ? 'Open' : verb}
      <span className="sr-only">: {need.title}</span>
    </Link>
  );
}

function Need({ need, first, phone }: { readonly need: Need; readonly first: boolean; readonly phone: boolean }) {
  const { icon: Icon, state } = LOOKS[need.kind];
  return (
    <li className={css.need} data-state={state}>
      <span className={css.mark}>
        <Icon size={14} aria-hidden="true" />
      </span>
      <div className="grow">
        <p className="strong cut" title={need.title}>
          {need.title}
        </p>
        <p className="small dim cut">
          {need.detail}
          {need.detail !== '' && ', '}waiting <Elapsed from={need.since} rough />
          {need.holdsUp > 0 && `, holds up ${need.holdsUp}`}
        </p>
      </div>
      <div className={css.acts}>
        <Settle need={need} first={first} />
        {phone && need.agentId !== null && (
          <Link href={`/agents/${need.agentId}`} className={css.settle}>
            Open agent
          </Link>
        )}
      </div>
    </li>
  );
}

/** Open requests to the operator, most urgent first, each with the action that settles it. */
export function Needs({ width }: { readonly width: Room }) {
  const phone = width === 'phone';
  const { data } = useOverview();
  const [all, setAll] = useState(false);
  const needs = data?.needsYou ?? [];
  if (data === undefined || needs.length === 0) return null;
  const few = FEW[width];
  const shown = all ? needs : needs.slice(0, few);
  const rest = data.needsYouCount - Math.min(few, needs.length);
  return (
    <section className={css.needs} aria-label="Needs you" data-all={all || undefined} data-more={rest > 0 || undefined}>
      <ul className={css.list} data-count={Math.min(shown.length, SHOWN)}>
        {shown.map((need, index) => (
          <Need key={`${need.kind} ${need.href} ${need.since}`} need={need} first={index === 0} phone={phone} />
        ))}
      </ul>
      {rest > 0 && (
        <button type="button" className={css.more} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Less' : phone ? `${rest} more need you` : `${rest} more`}
          {all ? <ChevronUp size={12} aria-hidden="true" /> : <ChevronRight size={12} aria-hidden="true" />}
        </button>
      )}
    </section>
  );
}
