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
  /** Button that opens the menu. */
  readonly trigger: ReactElement<TriggerProps>;
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Set if the parent controls the menu. */
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
}

const GAP_PX = 4;
const SAME_CLICK_MS = 250;

/** Positions the menu below the anchor, right-aligned; above it if it does not fit below. */
function positionMenu(menu: HTMLElement, anchor: DOMRect): void {
  const { width, height } = menu.getBoundingClientRect();
  const below = anchor.bottom + GAP_PX;
  const top = below + height > innerHeight - GAP_PX ? Math.max(GAP_PX, anchor.top - GAP_PX - height) : below;
  const left = Math.min(Math.max(GAP_PX, anchor.right - width), innerWidth - width - GAP_PX);
  Object.assign(menu.style, { top: `${top}px`, left: `${left}px` });
}

/** Menu of actions over the browser's popover: a click outside or Escape closes it. */
export function Menu({ trigger, label, items, open: controlledOpen, onOpenChange }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLSpanElement>(null);
  // A click on the button first closes the open menu as an outside click; it must not open it
  // again.
  const closedAt = useRef(Number.NEGATIVE_INFINITY);
  const [ownOpen, setOwnOpen] = useState(false);
  const open = controlledOpen ?? ownOpen;
  const setOpen = (next: boolean) => {
    setOwnOpen(next);
    onOpenChange?.(next);
  };
  useEffect(() => {
    const shown = menu.current;
    const button = anchor.current?.firstElementChild;
    if (shown === null || !open) return;
    shown.showPopover();
    if (button !== null && button !== undefined) positionMenu(shown, button.getBoundingClientRect());
    findEnabledItems(shown)[0]?.focus();
    return () => {
      const hadFocus = shown.contains(document.activeElement);
      if (shown.matches(':popover-open')) shown.hidePopover();
      if (hadFocus && button instanceof HTMLElement) button.focus();
    };
  }, [open]);
  return (
    <>
      <span ref={anchor} className={css.anchor}>
        {cloneElement(trigger, {
          onClick: () => setOpen(!open && performance.now() - closedAt.current > SAME_CLICK_MS),
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
            setOpen(false);
          }}
          onKeyDown={(event) => handleKey(event, () => setOpen(false))}
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
                setOpen(false);
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

function findEnabledItems(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role=menuitem][aria-disabled=false]')];
}

/** Handles arrows, Home, End, and the initial letter of an item. */
function handleKey(event: KeyboardEvent<HTMLElement>, close: () => void): void {
  // Keys pressed in the menu must not reach the page's shortcuts.
  event.stopPropagation();
  const all = findEnabledItems(event.currentTarget);
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
