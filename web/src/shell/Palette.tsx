import { Search } from 'lucide-react';
import { Fragment, useDeferredValue, useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useReadOnly } from '../api/overview';
import { filterCommands, useCommands, type Command } from './commands';
import css from './Palette.module.css';

/** Command palette: search, navigation, actions and tools. */
export function Palette({ query, onClose }: { readonly query: string; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState(query);
  const readOnly = useReadOnly();
  const commands = filterCommands(useCommands(useDeferredValue(words)), words);
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element !== null && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  const run = (command: Command) => {
    onClose();
    command.run();
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
      <PaletteSearch query={words} onQuery={setWords} commands={commands} onRun={run} />
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
        <span className="grow right">{readOnly ? 'Read-only link' : 'Includes every tool that you may call'}</span>
      </div>
    </dialog>
  );
}

interface PaletteSearchProps {
  readonly query: string;
  readonly onQuery: (words: string) => void;
  readonly commands: readonly Command[];
  readonly onRun: (command: Command) => void;
}

/**
 * Input and results. The focus stays in the input; `aria-activedescendant` names the selected
 * result.
 */
function PaletteSearch({ query, onQuery, commands, onRun }: PaletteSearchProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const activeIndex = Math.max(0, commands.findIndex((command) => command.key === selectedKey));
  const active = commands[activeIndex];
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.key]);
  const handleKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setSelectedKey(commands[(activeIndex + step + commands.length) % commands.length]?.key ?? null);
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
          value={query}
          onChange={(event) => {
            setSelectedKey(null);
            onQuery(event.target.value);
          }}
          onKeyDown={handleKey}
        />
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" className={css.list} tabIndex={-1}>
        {commands.length === 0 && (
          <div role="option" aria-selected="false" aria-disabled="true" className={css.empty}>
            No match. Try a role, a task's number or title, or a tool.
          </div>
        )}
        {commands.map((command, index) => (
          <Fragment key={command.key}>
            {command.group !== commands[index - 1]?.group && (
              <div role="presentation" className={css.group}>
                {command.group}
              </div>
            )}
            <div
              id={`${id}-${command.key}`}
              role="option"
              aria-selected={index === activeIndex}
              className={css.item}
              onPointerMove={() => setSelectedKey(command.key)}
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
