import lane from './Lane.module.css';
import css from './Legend.module.css';

const LEGEND_ENTRIES = [
  ['running', 'running'],
  ['awaiting', 'awaits children'],
  ['waiting_review', 'in review'],
  ['waiting_input', 'needs you'],
  ['limited', 'limited'],
] as const;

/** Legend of the lane patterns. */
export function Legend() {
  return (
    <ul className={css.legend} aria-label="Legend">
      {LEGEND_ENTRIES.map(([state, label]) => (
        <li key={state}>
          <span className={css.swatch} aria-hidden="true">
            <i className={lane.bar} data-state={state} />
          </span>
          {label}
        </li>
      ))}
      <li>
        <span className={css.bracket} aria-hidden="true" />
        time limit
      </li>
    </ul>
  );
}
