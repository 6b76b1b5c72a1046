import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import css from './CopyButton.module.css';

/** Button that copies a text, such as a command or an id. */
export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      className={css.copy}
      title="Copy"
      onClick={() => void navigator.clipboard?.writeText(text).then(() => setIsCopied(true))}
    >
      <code>{label ?? text}</code>
      {isCopied ? <Check size={12} aria-hidden="true" /> : <CopyIcon size={12} aria-hidden="true" />}
      <span className="sr-only" role="status">
        {isCopied ? 'copied' : ''}
      </span>
    </button>
  );
}
