import { CircleStop, Eye, GitCommitHorizontal, GitMerge, GitPullRequest, MessageCircleQuestionMark, MessageSquareWarning, Play, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useNow } from '../../parts/clock';
import { formatMoney, formatDuration, formatTime } from '../../parts/format';
import { getStateLook } from '../../parts/State';
import { toSafeUrl } from '../../parts/Markdown';
import type { AgentStory, CommitView } from '../../api/types';
import { buildAxis, buildBars, placeMarks, buildMoneyLine, buildNotches, type PlacedMark } from './timelineAxis';
import css from './Timeline.module.css';

const MONEY_HEIGHT_PX = 28;
const MARK_ICONS: Readonly<Record<string, LucideIcon>> = {
  start: Play, review: Eye, feedback: MessageSquareWarning, question: MessageCircleQuestionMark, warning: TriangleAlert, stop: CircleStop,
  pull: GitPullRequest, merge: GitMerge, commit: GitCommitHorizontal,
};
const formatPercent = (value: number) => `${value.toFixed(2)}%`;

function TimelineMark({ mark }: { readonly mark: PlacedMark }) {
  const Icon = MARK_ICONS[mark.kind] ?? Play;
  const label: ReactNode = mark.hasLabel ? <span className="cut">{mark.text.slice(0, 24)}</span> : <span className="sr-only">{mark.text}</span>;
  const inner = (
    <>
      <Icon size={12} aria-hidden="true" />
      {label}
    </>
  );
  const externalUrl = mark.href === null ? null : toSafeUrl(mark.href);
  const link = externalUrl !== null ? (
    <a href={externalUrl} rel="noreferrer noopener" target="_blank" className="row">{inner}</a>
  ) : mark.href?.startsWith('/') === true ? (
    <Link href={mark.href} className="row">{inner}</Link>
  ) : inner;
  return (
    <li className={css.mark} style={{ left: formatPercent(mark.left) }} title={`${formatTime(mark.at, true)} ${mark.text}`}>
      {link}
    </li>
  );
}

/** States, spending and marks of an agent on one time axis. */
export function Timeline({ story, commits }: { readonly story: AgentStory; readonly commits: readonly CommitView[] }) {
  const now = useNow();
  const isEnded = story.row.finishedAt !== null;
  // The axis of an ended agent is fixed; that of a live one moves every second.
  const axis = useMemo(() => buildAxis(story, now), [story, isEnded ? 0 : now]);
  const bars = buildBars(story.segments, axis);
  const notches = buildNotches(story.calls, axis);
  const line = buildMoneyLine(story, axis, MONEY_HEIGHT_PX);
  const marks = placeMarks(story.marks, commits, axis);
  const spent = story.row.costUsd;
  const length = formatDuration(axis.to - axis.from);
  return (
    <section className={css.timeline} aria-label="Timeline">
      <span className={css.name} id="timeline-state">State</span>
      <div className={css.lane} role="img" aria-label={bars.map((bar) => `${getStateLook(bar.state).label} from ${formatTime(bar.from)}${bar.to === null ? '' : ` to ${formatTime(bar.to)}`}`).join(', ')}>
        {bars.map((bar) => (
          <i
            key={`${bar.state} ${bar.from}`}
            data-state={bar.state}
            className={css.bar}
            style={{ left: formatPercent(bar.left), width: formatPercent(bar.width) }}
            title={`${getStateLook(bar.state).label}, ${formatTime(bar.from)}${bar.to === null ? '' : ` to ${formatTime(bar.to)}`}`}
          />
        ))}
        {notches.map((left) => (
          <u key={left} className={css.notch} style={{ left: formatPercent(left) }} />
        ))}
      </div>
      <span className={css.name}>Money</span>
      {line === null ? (
        <span className={css.none}>{spent === null ? 'unknown' : 'nothing spent'}</span>
      ) : (
        <svg viewBox={`0 0 1000 ${MONEY_HEIGHT_PX}`} preserveAspectRatio="none" className={css.money} aria-hidden="true">
          <polygon points={line.area} className={css.area} />
          <polyline points={line.line} className={css.line} />
        </svg>
      )}
      <span className={css.name} />
      <div className={css.marks}>
        <ul aria-label="Events">
          {marks.map((mark) => (
            <TimelineMark key={`${mark.kind} ${mark.at} ${mark.text}`} mark={mark} />
          ))}
        </ul>
        <span className={css.sum}>
          {spent === null ? length : `${formatMoney(spent)} after ${length}`}
        </span>
      </div>
    </section>
  );
}
