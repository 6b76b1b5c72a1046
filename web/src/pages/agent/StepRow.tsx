import {
  CircleCheck, CircleX, Eye, FilePen, FileSearch, GitCommitHorizontal, Globe, Info, ListChecks, Lock, Mail, MessageSquare, MessageSquareQuote,
  Network, Search, SquareTerminal, TriangleAlert, Wrench, type LucideIcon,
} from 'lucide-react';
import { memo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Ansi } from '../../parts/Ansi';
import { Button } from '../../parts/Button';
import { Json } from '../../parts/Code';
import { formatCount, formatLatency, pluralize } from '../../parts/format';
import { Markdown } from '../../parts/Markdown';
import { useRecordOfCall } from './queries';
import type { CallResult, StepSource, Step } from './steps';
import { describeCall, getToolName, countEditedLines, isShellTool, keepLastLines, opensByDefault, formatOffset, getCallDuration, getVerdict } from './stepText';
import css from './StepRow.module.css';

/** Longest output that is shown completely, in lines. */
const MAX_UNFOLDED_LINES = 200;
const FOLDED_LINES_SHOWN = 20;

const TOOL_ICONS: Readonly<Record<string, LucideIcon>> = {
  Read: FileSearch, Grep: Search, Glob: Search, LS: Search, Edit: FilePen, MultiEdit: FilePen, Write: FilePen, NotebookEdit: FilePen,
  apply_patch: FilePen, edit: FilePen, read: FileSearch, search: Search, WebFetch: Globe, WebSearch: Globe, web_search: Globe, fetch: Globe,
  TodoWrite: ListChecks, Task: Network, Agent: Network, collab: Network,
};
const TOOLSET_ICONS: Readonly<Record<string, LucideIcon>> = {
  mail: Mail, task: ListChecks, session: ListChecks, files: Lock, review: Eye, git: GitCommitHorizontal, agents: Network, harness: Network,
  orchestrator: Network, supervisor: Network, agent: Network,
};

function chooseIcon(step: Step): LucideIcon {
  if (step.kind === 'message') return MessageSquare;
  if (step.kind === 'told') return MessageSquareQuote;
  if (step.kind === 'thought') return MessageSquare;
  if (step.kind === 'error') return CircleX;
  if (step.kind === 'system') return step.tool === null ? Info : TriangleAlert;
  if (step.commit !== null || step.result?.commit != null) return GitCommitHorizontal;
  if (step.kind === 'output' || isShellTool(step.tool)) return SquareTerminal;
  const tool = step.tool ?? '';
  return TOOL_ICONS[tool] ?? TOOLSET_ICONS[tool.split('__')[1] ?? ''] ?? Wrench;
}

interface ProgramOutputProps {
  readonly text: string;
  readonly cut: number;
  readonly isError?: boolean;
  readonly onLoadWhole: () => Promise<void>;
}

/** Output of a program, folded to its last lines if it is long; cut output can be loaded. */
function ProgramOutput({ text, cut, isError = false, onLoadWhole }: ProgramOutputProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const shown = isOpen ? { text, left: 0 } : keepLastLines(text, MAX_UNFOLDED_LINES, FOLDED_LINES_SHOWN);
  const loadWhole = () => {
    setIsBusy(true);
    void onLoadWhole().finally(() => setIsBusy(false));
  };
  return (
    <>
      {shown.left > 0 && (
        <div className={css.fold}>
          <Button small variant="quiet" onClick={() => setIsOpen(true)}>
            Show {pluralize(shown.left, 'earlier line')}
          </Button>
        </div>
      )}
      <pre className={isError ? `${css.output} ${css.err}` : css.output}>
        <Ansi text={shown.text.replace(/\n$/, '')} />
      </pre>
      {cut > 0 && (
        <div className={css.fold}>
          <span className="tiny dim">{formatCount(cut)} bytes are not shown.</span>
          <Button small variant="quiet" disabled={isBusy} onClick={loadWhole}>
            Show all
          </Button>
        </div>
      )}
    </>
  );
}

function CallDetails({ id, step, onLoadWhole }: { readonly id: string; readonly step: Step; readonly onLoadWhole: (source: StepSource) => Promise<void> }) {
  const { result } = step;
  const record = useRecordOfCall(id, step.tool, step.at, result?.at ?? null);
  const isSimpleInput = typeof step.input === 'object' && step.input !== null && Object.keys(step.input).length <= 1 && describeCall(step.input).length < 120;
  return (
    <div className={css.more}>
      {step.input !== null && !isSimpleInput && <Json value={step.input} />}
      {result !== null && result.text.trim() !== '' && <ProgramOutput text={result.text} cut={result.cut} onLoadWhole={() => onLoadWhole(result.source)} />}
      {record.data != null && (
        <Link href={`/record?q=${encodeURIComponent(`agent:${id}`)}&call=${record.data.number}`} className={css.record}>
          Record {formatCount(record.data.number)}
        </Link>
      )}
    </div>
  );
}

function VerdictMark({ result, text }: { readonly result: CallResult; readonly text: string }) {
  const Icon = result.ok ? CircleCheck : CircleX;
  return (
    <span className={css.verdict} data-state={result.ok ? 'succeeded' : 'failed'}>
      <Icon size={12} aria-hidden="true" />
      {text}
    </span>
  );
}

function CallStep({ id, step, onLoadWhole }: { readonly id: string; readonly step: Step; readonly onLoadWhole: (source: StepSource) => Promise<void> }) {
  // The visitor's choice takes precedence over the default.
  const [chosenOpen, setChosenOpen] = useState<boolean | null>(null);
  const isOpen = chosenOpen ?? opensByDefault(step);
  const lineCounts = countEditedLines(step);
  const verdict = getVerdict(step);
  const ms = getCallDuration(step);
  const commit = step.result?.commit ?? null;
  return (
    <div>
      <button type="button" className={css.call} aria-expanded={isOpen} onClick={() => setChosenOpen(!isOpen)}>
        <span className={css.name}>{getToolName(step.tool ?? 'tool')}</span>
        <span className={`${css.about} cut`}>{describeCall(step.input)}</span>
        {lineCounts !== null && (
          <span className={css.counts}>
            <span className="plus">+{lineCounts.added}</span> <span className="minus">−{lineCounts.removed}</span>
          </span>
        )}
        {verdict !== null && step.result !== null && <VerdictMark result={step.result} text={verdict.text} />}
        {commit !== null && <span className={css.chip}>{commit.slice(0, 7)}</span>}
        <span className={css.duration}>{ms === null ? '…' : formatLatency(ms)}</span>
      </button>
      {isOpen && <CallDetails id={id} step={step} onLoadWhole={onLoadWhole} />}
    </div>
  );
}

interface Props {
  readonly id: string;
  readonly step: Step;
  readonly start: string;
  readonly onLoadWhole: (source: StepSource) => Promise<void>;
}

function renderContent({ id, step, onLoadWhole }: Props): ReactNode {
  switch (step.kind) {
    case 'call':
      return <CallStep id={id} step={step} onLoadWhole={onLoadWhole} />;
    case 'output':
      return <ProgramOutput text={step.text} cut={step.cut} isError={step.err} onLoadWhole={() => onLoadWhole(step.source)} />;
    case 'told':
      return (
        <div className={css.prompt}>
          <Markdown text={shortenPrompt(step.text)} />
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
function shortenPrompt(text: string): string {
  const { text: shown, left } = keepLastLines(text, 30, 12);
  return left === 0 ? text : `*… ${left} earlier lines; see “Prompt and context” for the complete text*\n\n${shown}`;
}

/** One step of the stream. */
export const StepRow = memo(function StepRow(props: Props) {
  const { step, start } = props;
  if (step.kind === 'attempt') return <div className={css.attempt}>attempt {step.source.attempt}</div>;
  const Icon = chooseIcon(step);
  const isText = step.kind === 'message' || step.kind === 'told' || step.kind === 'thought';
  return (
    <div className={isText ? `${css.step} ${css.text}` : css.step} data-kind={step.kind}>
      <time className={css.time} dateTime={step.at} title={new Date(step.at).toLocaleString('en-GB')}>
        {formatOffset(step.at, start)}
      </time>
      <Icon size={14} className={css.icon} aria-hidden="true" />
      <div className="grow">{renderContent(props)}</div>
    </div>
  );
});
