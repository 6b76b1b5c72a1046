import { Ellipsis } from 'lucide-react';
import { memo, useEffect, useRef } from 'react';
import { Button } from '../../parts/Button';
import { Menu, type MenuItem } from '../../parts/Menu';
import { CardFoot } from './CardFoot';
import { carry } from './dragging';
import { name } from './moves';
import type { TaskRow } from '../../api/types';
import css from './Card.module.css';

export interface CardActs {
  readonly readOnly: boolean;
  readonly open: (number: number) => void;
  readonly href: (number: number) => string;
  readonly menu: (row: TaskRow) => readonly MenuItem[];
  /** Opens or closes the menu of a task. */
  readonly setMenu: (number: number | null) => void;
  readonly focused: (number: number) => void;
}

interface Props {
  readonly row: TaskRow;
  readonly acts: CardActs;
  readonly selected: boolean;
  /** True if the keyboard selection is here, so that the card takes the focus. */
  readonly current: boolean;
  readonly menuOpen: boolean;
  /** True for the task that the next agent claims. */
  readonly next: boolean;
}

/** Card of a task: a draggable link. Its menu has the same actions as dragging. */
export const Card = memo(function Card({ row, acts, selected, current, menuOpen, next }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (current) link.current?.focus({ preventScroll: true });
  }, [current]);
  return (
    <div className={css.holder}>
      <a
        ref={link}
        href={acts.href(row.number)}
        data-number={row.number}
        data-column={row.column}
        className={css.card}
        draggable={!acts.readOnly}
        onDragStart={(event) => {
          carry(event.dataTransfer, row.number);
          event.currentTarget.dataset['dragged'] = 'true';
        }}
        onDragEnd={(event) => delete event.currentTarget.dataset['dragged']}
        aria-current={selected ? 'true' : undefined}
        onFocus={() => acts.focused(row.number)}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          acts.open(row.number);
        }}
      >
        <span className={css.head}>
          <span className={css.number}>{name(row.number)}</span>
          <span className={row.priority <= 1 ? css.urgent : css.priority} title={`Priority ${row.priority}`}>
            <span className="sr-only">priority </span>
            <span aria-hidden="true">P</span>
            {row.priority}
          </span>
        </span>
        <span className={css.title}>{row.title}</span>
        <CardFoot row={row} next={next} />
      </a>
      {!acts.readOnly && (
        <Menu
          label={`Actions for ${name(row.number)}`}
          items={menuOpen ? acts.menu(row) : []}
          open={menuOpen}
          onOpenChange={(open) => acts.setMenu(open ? row.number : null)}
          trigger={<Button look="quiet" small tabIndex={-1} className={css.more ?? ''} icon={<Ellipsis size={14} />} aria-label={`Menu of ${name(row.number)}`} />}
        />
      )}
    </div>
  );
});
