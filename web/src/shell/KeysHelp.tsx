import { Dialog } from '../parts/Dialog';
import { KeyList, SingleKeys } from './KeyList';
import css from './KeysHelp.module.css';

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <SingleKeys className="row" />
      <KeyList listClass={css.keys} />
    </Dialog>
  );
}
