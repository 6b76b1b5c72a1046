import { Search } from 'lucide-react';
import { Fragment, useDeferredValue, useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useReadOnly } from '../api/overview';
import { matching, useCommands, type Command } from './commands';
import css from './Palette.module.css';

/** Command palette: search, navigation, actions and tools. */
export function Palette({ query, onClose }: { readonly query: string; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState(query);
  const readOnly = useReadOnly();
  const commands = matching(useCommands(useDeferredValue(words)), words);
  useLayoutEffect(() => {
    const shown = dialog.current;
    if (shown !== null && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  const run = (command: Command) => {
    onClose();
    command.act();
  };
  return (
    <dialog
      ref={dialog}
      className={css.palette}
      aria-label="Search or run a command"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Box words={words} onWords={setWords} commands={commands} onRun={run} />
      <div className={css.foot}>
        <span>
          <kbd>↑↓</kbd> move
        </span>
        <span>
          <kbd>↵</kbd> run
        </span>
        <span>
          <kbd>esc</kbd> close
        </span>
        <span className="grow right">{readOnly ? 'Read-only link' : 'Every tool you may call is here'}</span>
      </div>
    </dialog>
  );
}

interface BoxProps {
  readonly words: string;
  readonly onWords: (words: string) => void;
  readonly commands: readonly Command[];
  readonly onRun: (command: Command) => void;
}

/**
 * Input and results. The focus stays in the input; `aria-activedescendant` names the selected
 * result.
 */
function Box({ words, onWords, commands, onRun }: BoxProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const at = Math.max(0, commands.findIndex((command) => command.key === chosen));
  const active = commands[at];
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.key]);
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && commands.length > 0) {
      event.preventDefault();
      setChosen(commands[(at + by + commands.length) % commands.length]?.key ?? null);
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing && active !== undefined) {
      event.preventDefault();
      onRun(active);
    }
  };
  return (
    <>
      <div className={css.input}>
        <Search size={16} aria-hidden="true" />
        <input
          role="combobox"
          aria-label="Search or run a command"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active === undefined ? undefined : `${id}-${active.key}`}
          placeholder="Search or run a command"
          autoFocus
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={words}
          onChange={(event) => {
            setChosen(null);
            onWords(event.target.value);
          }}
          onKeyDown={onKey}
        />
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" className={css.list} tabIndex={-1}>
        {commands.length === 0 && (
          <div role="option" aria-selected="false" aria-disabled="true" className={css.empty}>
            No match. Try a role, a task's number or title, or a tool.
          </div>
        )}
        {commands.map((command, place) => (
          <Fragment key={command.key}>
            {command.group !== commands[place - 1]?.group && (
              <div role="presentation" className={css.group}>
                {command.group}
              </div>
            )}
            <div
              id={`${id}-${command.key}`}
              role="option"
              aria-selected={place === at}
              className={css.item}
              onPointerMove={() => setChosen(command.key)}
              onClick={() => onRun(command)}
            >
              {command.icon}
              <span className="grow cut">{command.label}</span>
              {command.hint !== undefined && <kbd>{command.hint}</kbd>}
            </div>
          </Fragment>
        ))}
      </div>
    </>
  );
}
