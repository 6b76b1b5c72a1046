import { cloneElement, useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactElement, type ReactNode } from 'react';
import css from './Menu.module.css';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly hint?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onSelect: () => void;
}

interface TriggerProps {
  readonly onClick?: (event: MouseEvent<HTMLElement>) => void;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
}

interface Props {
  /** The button that opens it. */
  readonly trigger: ReactElement<TriggerProps>;
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Where somebody else decides whether it is open. */
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
}

const GAP = 4;
const SAME_CLICK = 250;

/** Below the anchor, its right edges in line; above it where there is no room below. */
function place(menu: HTMLElement, anchor: DOMRect): void {
  const { width, height } = menu.getBoundingClientRect();
  const below = anchor.bottom + GAP;
  const top = below + height > innerHeight - GAP ? Math.max(GAP, anchor.top - GAP - height) : below;
  const left = Math.min(Math.max(GAP, anchor.right - width), innerWidth - width - GAP);
  Object.assign(menu.style, { top: `${top}px`, left: `${left}px` });
}

/** A menu of acts. It is the browser's own popover: a click beside it or escape closes it, and nothing lies over it. */
export function Menu({ trigger, label, items, open: given, onOpenChange }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);
  // A click on the button closes the menu as a click beside it, before it is a click on the button.
  const closedAt = useRef(Number.NEGATIVE_INFINITY);
  const [own, setOwn] = useState(false);
  const open = given ?? own;
  const set = (next: boolean) => {
    setOwn(next);
    onOpenChange?.(next);
  };
  useEffect(() => {
    const shown = menu.current;
    const at = anchor.current?.firstElementChild;
    if (shown === null || !open) return;
    shown.showPopover();
    if (at !== null && at !== undefined) place(shown, at.getBoundingClientRect());
    enabled(shown)[0]?.focus();
    return () => {
      const had = shown.contains(document.activeElement);
      if (shown.matches(':popover-open')) shown.hidePopover();
      if (had && at instanceof HTMLElement) at.focus();
    };
  }, [open]);
  return (
    <>
      <span ref={anchor} className={css.anchor}>
        {cloneElement(trigger, {
          onClick: () => set(!open && performance.now() - closedAt.current > SAME_CLICK),
          'aria-haspopup': 'menu',
          'aria-expanded': open,
        })}
      </span>
      {open && (
        <div
          ref={menu}
          popover="auto"
          role="menu"
          aria-label={label}
          className={css.menu}
          onToggle={(event) => {
            if (event.newState !== 'closed') return;
            closedAt.current = performance.now();
            set(false);
          }}
          onKeyDown={(event) => onKey(event, () => set(false))}
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-disabled={item.disabled ?? false}
              className={item.danger === true ? `${css.item} ${css.danger}` : css.item}
              onPointerMove={(event) => event.currentTarget.focus()}
              onClick={() => {
                if (item.disabled === true) return;
                set(false);
                item.onSelect();
              }}
            >
              {item.icon}
              <span className="grow">{item.label}</span>
              {item.hint !== undefined && <kbd>{item.hint}</kbd>}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

function enabled(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role=menuitem][aria-disabled=false]')];
}

/** Arrows move, home and end jump, a letter goes to the next item that begins with it. */
function onKey(event: KeyboardEvent<HTMLElement>, close: () => void): void {
  // What is pressed in here is not for the page behind.
  event.stopPropagation();
  const all = enabled(event.currentTarget);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = {
    ArrowDown: all[(at + 1) % all.length],
    ArrowUp: all[(at - 1 + all.length) % all.length],
    Home: all[0],
    End: all.at(-1),
  }[event.key];
  if (event.key === 'Tab' || event.key === 'Escape') {
    event.preventDefault();
    close();
  } else if (next !== undefined) {
    event.preventDefault();
    next.focus();
  } else if (event.key.length === 1 && event.key !== ' ') {
    const behind = [...all.slice(at + 1), ...all.slice(0, at + 1)];
    behind.find((item) => item.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
  }
}
