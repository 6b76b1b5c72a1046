import { CircleStop, Eye, GitCommitHorizontal, GitMerge, GitPullRequest, MessageCircleQuestionMark, MessageSquareWarning, Play, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useNow } from '../../parts/clock';
import { money, span, time } from '../../parts/format';
import { lookOf } from '../../parts/State';
import { safeAddress } from '../../parts/Markdown';
import type { AgentStory, Commit } from '../../api/types';
import { axisOf, barsOf, marksOf, moneyOf, notchesOf, type PlacedMark } from './axis';
import css from './Timeline.module.css';

const HEIGHT = 28;
const ICONS: Readonly<Record<string, LucideIcon>> = {
  start: Play, review: Eye, feedback: MessageSquareWarning, question: MessageCircleQuestionMark, warning: TriangleAlert, stop: CircleStop,
  pull: GitPullRequest, merge: GitMerge, commit: GitCommitHorizontal,
};
const percent = (value: number) => `${value.toFixed(2)}%`;

function MarkView({ mark }: { readonly mark: PlacedMark }) {
  const Icon = ICONS[mark.kind] ?? Play;
  const words: ReactNode = mark.worded ? <span className="cut">{mark.text.slice(0, 24)}</span> : <span className="sr-only">{mark.text}</span>;
  const inner = (
    <>
      <Icon size={12} aria-hidden="true" />
      {words}
    </>
  );
  const outside = mark.href === null ? null : safeAddress(mark.href);
  const link = outside !== null ? (
    <a href={outside} rel="noreferrer noopener" target="_blank" className="row">{inner}</a>
  ) : mark.href?.startsWith('/') === true ? (
    <Link href={mark.href} className="row">{inner}</Link>
  ) : inner;
  return (
    <li className={css.mark} style={{ left: percent(mark.left) }} title={`${time(mark.at, true)} ${mark.text}`}>
      {link}
    </li>
  );
}

/** States, spending and marks of an agent on one time axis. */
export function Timeline({ story, commits }: { readonly story: AgentStory; readonly commits: readonly Commit[] }) {
  const now = useNow();
  const over = story.row.finishedAt !== null;
  // The axis of an ended agent is fixed; that of a live one moves every second.
  const axis = useMemo(() => axisOf(story, now), [story, over ? 0 : now]);
  const bars = barsOf(story.segments, axis);
  const notches = notchesOf(story.calls, axis);
  const line = moneyOf(story, axis, HEIGHT);
  const marks = marksOf(story.marks, commits, axis);
  const spent = story.row.costUsd;
  const length = span(axis.to - axis.from);
  return (
    <section className={css.timeline} aria-label="Timeline">
      <span className={css.name} id="timeline-state">State</span>
      <div className={css.lane} role="img" aria-label={bars.map((bar) => `${lookOf(bar.state).word} from ${time(bar.from)}${bar.to === null ? '' : ` to ${time(bar.to)}`}`).join(', ')}>
        {bars.map((bar) => (
          <i
            key={`${bar.state} ${bar.from}`}
            data-state={bar.state}
            className={css.bar}
            style={{ left: percent(bar.left), width: percent(bar.width) }}
            title={`${lookOf(bar.state).word}, ${time(bar.from)}${bar.to === null ? '' : ` to ${time(bar.to)}`}`}
          />
        ))}
        {notches.map((left) => (
          <u key={left} className={css.notch} style={{ left: percent(left) }} />
        ))}
      </div>
      <span className={css.name}>Money</span>
      {line === null ? (
        <span className={css.none}>{spent === null ? 'not known' : 'nothing spent'}</span>
      ) : (
        <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" className={css.money} aria-hidden="true">
          <polygon points={line.area} className={css.area} />
          <polyline points={line.line} className={css.line} />
        </svg>
      )}
      <span className={css.name} />
      <div className={css.marks}>
        <ul aria-label="What happened">
          {marks.map((mark) => (
            <MarkView key={`${mark.kind} ${mark.at} ${mark.text}`} mark={mark} />
          ))}
        </ul>
        <span className={css.sum}>
          {spent === null ? length : `${money(spent)} after ${length}`}
        </span>
      </div>
    </section>
  );
}
