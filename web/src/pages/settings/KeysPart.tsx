// The keyboard: every key, and whether single ones count.
import { useState } from 'react';
import { KEYS } from '../../shell/KeysHelp';
import { setSingleKeys, singleKeysOn } from '../../shell/keys';
import css from './Simple.module.css';

export function KeysPart() {
  const [on, setOn] = useState(singleKeysOn);
  return (
    <div className={css.part}>
      <section className={css.block} aria-label="Single keys">
        <label className={css.check}>
          <input
            type="checkbox"
            checked={on}
            onChange={(event) => {
              setSingleKeys(event.target.checked);
              setOn(event.target.checked);
            }}
          />
          Single keys act
        </label>
        <p className="small mid">Off, only keys with ⌘ or Ctrl do something. This is kept in this browser.</p>
      </section>
      {KEYS.map(({ where, keys }) => (
        <section key={where} className={css.block} aria-label={where}>
          <h3>{where}</h3>
          <dl className={css.keys}>
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
