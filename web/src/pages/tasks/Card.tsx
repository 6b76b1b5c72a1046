import { Ellipsis } from 'lucide-react';
import { memo, useEffect, useRef } from 'react';
import { Button } from '../../parts/Button';
import { Menu, type MenuItem } from '../../parts/Menu';
import { CardFooter } from './CardFooter';
import { startDrag } from './dragging';
import { formatTaskNumber } from './moves';
import type { TaskRow } from '../../api/types';
import css from './Card.module.css';

export interface CardActions {
  readonly readOnly: boolean;
  readonly open: (number: number) => void;
  readonly href: (number: number) => string;
  readonly menu: (row: TaskRow) => readonly MenuItem[];
  /** Opens or closes the menu of a task. */
  readonly setMenu: (number: number | null) => void;
  readonly onFocus: (number: number) => void;
}

interface Props {
  readonly row: TaskRow;
  readonly actions: CardActions;
  readonly isSelected: boolean;
  /** True if the keyboard selection is here, so that the card takes the focus. */
  readonly isCurrent: boolean;
  readonly isMenuOpen: boolean;
  /** True for the task that the next agent claims. */
  readonly isNext: boolean;
}

/** Card of a task: a draggable link. Its menu has the same actions as dragging. */
export const Card = memo(function Card({ row, actions, isSelected, isCurrent, isMenuOpen, isNext }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isCurrent) link.current?.focus({ preventScroll: true });
  }, [isCurrent]);
  return (
    <div className={css.holder}>
      <a
        ref={link}
        href={actions.href(row.number)}
        data-number={row.number}
        data-column={row.column}
        className={css.card}
        draggable={!actions.readOnly}
        onDragStart={(event) => {
          startDrag(event.dataTransfer, row.number);
          event.currentTarget.dataset['dragged'] = 'true';
        }}
        onDragEnd={(event) => delete event.currentTarget.dataset['dragged']}
        aria-current={isSelected ? 'true' : undefined}
        onFocus={() => actions.onFocus(row.number)}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          actions.open(row.number);
        }}
      >
        <span className={css.head}>
          <span className={css.number}>{formatTaskNumber(row.number)}</span>
          <span className={row.priority <= 1 ? css.urgent : css.priority} title={`Priority ${row.priority}`}>
            <span className="sr-only">priority </span>
            <span aria-hidden="true">P</span>
            {row.priority}
          </span>
        </span>
        <span className={css.title}>{row.title}</span>
        <CardFooter row={row} isNext={isNext} />
      </a>
      {!actions.readOnly && (
        <Menu
          label={`Actions for ${formatTaskNumber(row.number)}`}
          items={isMenuOpen ? actions.menu(row) : []}
          open={isMenuOpen}
          onOpenChange={(open) => actions.setMenu(open ? row.number : null)}
          trigger={<Button variant="quiet" small tabIndex={-1} className={css.more ?? ''} icon={<Ellipsis size={14} />} aria-label={`Menu of ${formatTaskNumber(row.number)}`} />}
        />
      )}
    </div>
  );
});
