import { ListFilter } from 'lucide-react';
import { useRef } from 'react';
import { useKeys } from './keys';
import css from './FilterInput.module.css';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Filter of a list. `/` focuses it; Escape clears and leaves it. */
export function FilterInput({ label, value, onChange }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => input.current?.focus() });
  return (
    <span className={css.search}>
      <ListFilter size={14} aria-hidden="true" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        maxLength={200}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onChange('');
          event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </span>
  );
}
