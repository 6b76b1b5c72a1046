import { ChevronRight, ChevronUp, Eye, GitMerge, GitPullRequest, MessageCircleQuestionMark, TriangleAlert, Wallet, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useOverview, useReadOnly } from '../../api/overview';
import type { NeedView as NeedItem } from '../../api/types';
import { Button } from '../../parts/Button';
import { Elapsed } from '../../parts/Elapsed';
import { openStartAgent } from '../../shell/overlay';
import type { LayoutWidth } from '../../parts/media';
import css from './NeedsList.module.css';

/** Number of requests shown side by side; the rest waits behind a button. */
const MAX_SHOWN_NEEDS = 3;
const SHOWN_NEEDS: Readonly<Record<LayoutWidth, number>> = { phone: 1, narrow: 2, wide: MAX_SHOWN_NEEDS };

interface NeedLook {
  readonly icon: LucideIcon;
  /** Label of the action that settles the request. */
  readonly verb: string;
  readonly state: string;
}

const NEED_LOOKS: Readonly<Record<NeedItem['kind'], NeedLook>> = {
  question: { icon: MessageCircleQuestionMark, verb: 'Answer', state: 'waiting_input' },
  permission: { icon: MessageCircleQuestionMark, verb: 'Answer', state: 'waiting_input' },
  review: { icon: GitPullRequest, verb: 'Review', state: 'waiting_input' },
  reviewLimit: { icon: Eye, verb: 'Decide', state: 'waiting_review' },
  budget: { icon: Wallet, verb: 'Resume', state: 'over_budget' },
  merge: { icon: GitMerge, verb: 'Inspect', state: 'failed' },
  mail: { icon: TriangleAlert, verb: 'Read', state: 'failed' },
};

function NeedAction({ need, first }: { readonly need: NeedItem; readonly first: boolean }) {
  const readOnly = useReadOnly();
  const { verb } = NEED_LOOKS[need.kind];
  const { agentId } = need;
  if (need.kind === 'budget' && agentId !== null && !readOnly) {
    return (
      <Button small onClick={() => openStartAgent({ resume: agentId })}>
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

function NeedItem({ need, first, phone }: { readonly need: NeedItem; readonly first: boolean; readonly phone: boolean }) {
  const { icon: Icon, state } = NEED_LOOKS[need.kind];
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
          {need.holdsUp > 0 && `, blocks ${need.holdsUp}`}
        </p>
      </div>
      <div className={css.acts}>
        <NeedAction need={need} first={first} />
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
export function NeedsList({ layout }: { readonly layout: LayoutWidth }) {
  const isPhone = layout === 'phone';
  const { data } = useOverview();
  const [showsAll, setShowsAll] = useState(false);
  const needs = data?.needsYou ?? [];
  if (data === undefined || needs.length === 0) return null;
  const shownCount = SHOWN_NEEDS[layout];
  const shown = showsAll ? needs : needs.slice(0, shownCount);
  const hiddenCount = data.needsYouCount - Math.min(shownCount, needs.length);
  return (
    <section className={css.needs} aria-label="Needs you" data-all={showsAll || undefined} data-more={hiddenCount > 0 || undefined}>
      <ul className={css.list} data-count={Math.min(shown.length, MAX_SHOWN_NEEDS)}>
        {shown.map((need, index) => (
          <NeedItem key={`${need.kind} ${need.href} ${need.since}`} need={need} first={index === 0} phone={isPhone} />
        ))}
      </ul>
      {hiddenCount > 0 && (
        <button type="button" className={css.more} aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? 'Show less' : `Show ${hiddenCount} more`}
          {showsAll ? <ChevronUp size={12} aria-hidden="true" /> : <ChevronRight size={12} aria-hidden="true" />}
        </button>
      )}
    </section>
  );
}
