import {
  CircleCheck, CircleX, Eye, FilePen, FileSearch, GitCommitHorizontal, Globe, Info, ListChecks, Lock, Mail, MessageSquare, MessageSquareQuote,
  Network, Search, SquareTerminal, TriangleAlert, Wrench, type LucideIcon,
} from 'lucide-react';
import { memo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Ansi } from '../../parts/Ansi';
import { Button } from '../../parts/Button';
import { Json } from '../../parts/Code';
import { count, plural, took } from '../../parts/format';
import { Markdown } from '../../parts/Markdown';
import { useRecordOf } from './queries';
import type { Came, Source, Step } from './steps';
import { about, bare, edited, isShell, lastLines, opensItself, since, tookOf, verdict } from './words';
import css from './StepRow.module.css';

/** Longest output that is shown completely, in lines. */
const FOLDED = 200;
const SHOWN = 20;

const TOOLS: Readonly<Record<string, LucideIcon>> = {
  Read: FileSearch, Grep: Search, Glob: Search, LS: Search, Edit: FilePen, MultiEdit: FilePen, Write: FilePen, NotebookEdit: FilePen,
  apply_patch: FilePen, edit: FilePen, read: FileSearch, search: Search, WebFetch: Globe, WebSearch: Globe, web_search: Globe, fetch: Globe,
  TodoWrite: ListChecks, Task: Network, Agent: Network, collab: Network,
};
const TOOLSETS: Readonly<Record<string, LucideIcon>> = {
  mail: Mail, task: ListChecks, session: ListChecks, files: Lock, review: Eye, git: GitCommitHorizontal, agents: Network, harness: Network,
  orchestrator: Network, supervisor: Network, agent: Network,
};

function iconOf(step: Step): LucideIcon {
  if (step.kind === 'message') return MessageSquare;
  if (step.kind === 'told') return MessageSquareQuote;
  if (step.kind === 'thought') return MessageSquare;
  if (step.kind === 'error') return CircleX;
  if (step.kind === 'system') return step.tool === null ? Info : TriangleAlert;
  if (step.commit !== null || step.came?.commit != null) return GitCommitHorizontal;
  if (step.kind === 'output' || isShell(step.tool)) return SquareTerminal;
  const tool = step.tool ?? '';
  return TOOLS[tool] ?? TOOLSETS[tool.split('__')[1] ?? ''] ?? Wrench;
}

interface OutProps {
  readonly text: string;
  readonly cut: number;
  readonly err?: boolean;
  readonly onWhole: () => Promise<void>;
}

/** Output of a program, folded to its last lines if it is long; cut output can be loaded. */
function Out({ text, cut, err = false, onWhole }: OutProps) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const shown = open ? { text, left: 0 } : lastLines(text, FOLDED, SHOWN);
  const whole = () => {
    setBusy(true);
    void onWhole().finally(() => setBusy(false));
  };
  return (
    <>
      {shown.left > 0 && (
        <div className={css.fold}>
          <Button small look="quiet" onClick={() => setOpen(true)}>
            {plural(shown.left, 'line')} before; show all
          </Button>
        </div>
      )}
      <pre className={err ? `${css.out} ${css.err}` : css.out}>
        <Ansi text={shown.text.replace(/\n$/, '')} />
      </pre>
      {cut > 0 && (
        <div className={css.fold}>
          <span className="tiny dim">{count(cut)} bytes were left out here.</span>
          <Button small look="quiet" disabled={busy} onClick={whole}>
            Show all
          </Button>
        </div>
      )}
    </>
  );
}

function CallMore({ id, step, onWhole }: { readonly id: string; readonly step: Step; readonly onWhole: (source: Source) => Promise<void> }) {
  const { came } = step;
  const record = useRecordOf(id, step.tool, step.at, came?.at ?? null);
  const simple = typeof step.input === 'object' && step.input !== null && Object.keys(step.input).length <= 1 && about(step.input).length < 120;
  return (
    <div className={css.more}>
      {step.input !== null && !simple && <Json value={step.input} />}
      {came !== null && came.text.trim() !== '' && <Out text={came.text} cut={came.cut} onWhole={() => onWhole(came.source)} />}
      {record.data != null && (
        <Link href={`/record?q=${encodeURIComponent(`agent:${id}`)}&call=${record.data.number}`} className={css.record}>
          Record {count(record.data.number)}
        </Link>
      )}
    </div>
  );
}

function Verdict({ came, word }: { readonly came: Came; readonly word: string }) {
  const Icon = came.ok ? CircleCheck : CircleX;
  return (
    <span className={css.verdict} data-state={came.ok ? 'succeeded' : 'failed'}>
      <Icon size={12} aria-hidden="true" />
      {word}
    </span>
  );
}

function Call({ id, step, onWhole }: { readonly id: string; readonly step: Step; readonly onWhole: (source: Source) => Promise<void> }) {
  // The visitor's choice takes precedence over the default.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? opensItself(step);
  const changes = edited(step);
  const ended = verdict(step);
  const ms = tookOf(step);
  const commit = step.came?.commit ?? null;
  return (
    <div>
      <button type="button" className={css.call} aria-expanded={open} onClick={() => setChosen(!open)}>
        <span className={css.name}>{bare(step.tool ?? 'tool')}</span>
        <span className={`${css.about} cut`}>{about(step.input)}</span>
        {changes !== null && (
          <span className={css.counts}>
            <span className="plus">+{changes.added}</span> <span className="minus">−{changes.removed}</span>
          </span>
        )}
        {ended !== null && step.came !== null && <Verdict came={step.came} word={ended.word} />}
        {commit !== null && <span className={css.chip}>{commit.slice(0, 7)}</span>}
        <span className={css.took}>{ms === null ? '…' : took(ms)}</span>
      </button>
      {open && <CallMore id={id} step={step} onWhole={onWhole} />}
    </div>
  );
}

interface Props {
  readonly id: string;
  readonly step: Step;
  readonly start: string;
  readonly onWhole: (source: Source) => Promise<void>;
}

function content({ id, step, onWhole }: Props): ReactNode {
  switch (step.kind) {
    case 'call':
      return <Call id={id} step={step} onWhole={onWhole} />;
    case 'output':
      return <Out text={step.text} cut={step.cut} err={step.err} onWhole={() => onWhole(step.source)} />;
    case 'told':
      return (
        <div className={css.told}>
          <Markdown text={lastOf(step.text)} />
        </div>
      );
    case 'message':
      return <Markdown text={step.text} />;
    case 'thought':
      return (
        <div className={css.thought}>
          <Markdown text={step.text} />
        </div>
      );
    case 'error':
      return <p className={css.error}>{step.text}</p>;
    default:
      return <p className={css.system}>{step.text}</p>;
  }
}

/** Keeps the end of the first prompt, which states the task; its own tab has the complete text. */
function lastOf(text: string): string {
  const { text: shown, left } = lastLines(text, 30, 12);
  return left === 0 ? text : `*… ${left} earlier lines; see “Prompt and context” for the complete text*\n\n${shown}`;
}

/** One step of the stream. */
export const StepRow = memo(function StepRow(props: Props) {
  const { step, start } = props;
  if (step.kind === 'attempt') return <div className={css.attempt}>attempt {step.source.attempt}</div>;
  const Icon = iconOf(step);
  const says = step.kind === 'message' || step.kind === 'told' || step.kind === 'thought';
  return (
    <div className={says ? `${css.step} ${css.say}` : css.step} data-kind={step.kind}>
      <time className={css.time} dateTime={step.at} title={new Date(step.at).toLocaleString('en-GB')}>
        {since(step.at, start)}
      </time>
      <Icon size={14} className={css.icon} aria-hidden="true" />
      <div className="grow">{content(props)}</div>
    </div>
  );
});
