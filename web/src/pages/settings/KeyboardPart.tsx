// Keyboard settings: all shortcuts, and the switch for single keys.
import { KeyList, SingleKeysToggle } from '../../shell/KeyList';
import css from './Simple.module.css';

export function KeyboardPart() {
  return (
    <div className={css.part}>
      <section className={css.block} aria-label="Single keys">
        <SingleKeysToggle className={css.check} />
        <p className="small mid">If this is off, only shortcuts with ⌘ or Ctrl work. The setting is stored in this browser.</p>
      </section>
      <KeyList sectionClass={css.block} listClass={css.keys} />
    </div>
  );
}
