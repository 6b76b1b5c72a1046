import { Dialog } from '../parts/Dialog';
import { KeyList, SingleKeysToggle } from './KeyList';
import css from './KeysHelp.module.css';

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <SingleKeysToggle className="row" />
      <KeyList listClass={css.keys} />
    </Dialog>
  );
}
