import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import css from './Copy.module.css';

/** Button that copies a text, such as a command or an id. */
export function Copy({ text, label }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className={css.copy}
      title="Copy"
      onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}
    >
      <code>{label ?? text}</code>
      {copied ? <Check size={12} aria-hidden="true" /> : <CopyIcon size={12} aria-hidden="true" />}
      <span className="sr-only" role="status">
        {copied ? 'copied' : ''}
      </span>
    </button>
  );
}
