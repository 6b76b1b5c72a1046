// Keyboard shortcuts. Mounted components register handlers, and the newest one wins. Single keys
// are ignored while the visitor types, and can be turned off.
import { useEffect, useRef } from 'react';

export type KeyHandlers = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const KEYS_STORAGE_KEY = 'adjutant.keys';
const SEQUENCE_TIMEOUT_MS = 1200;
const layers: { current: KeyHandlers }[] = [];
let pendingKey: { key: string; at: number } | null = null;

export function areSingleKeysOn(): boolean {
  return localStorage.getItem(KEYS_STORAGE_KEY) !== 'off';
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(KEYS_STORAGE_KEY, on ? 'on' : 'off');
}

/** Name of a pressed key: `x`, `X` (with shift), `mod+k`, `Escape`. */
export function getKeyName(event: Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey'>): string {
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : '';
  const alt = event.altKey ? 'alt+' : '';
  return mod + alt + (event.key.length === 1 && mod !== '' ? event.key.toLowerCase() : event.key);
}

/** True if key presses on the element are text input. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function findHandler(name: string): ((event: KeyboardEvent) => void) | undefined {
  for (const layer of layers.toReversed()) {
    const handler = layer.current[name];
    if (handler !== undefined) return handler;
  }
  return undefined;
}

function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const name = getKeyName(event);
  const isSingle = !name.startsWith('mod+') && !name.startsWith('alt+');
  if (isSingle && (isTyping(event.target) || !areSingleKeysOn())) return;
  const sequence = pendingKey !== null && Date.now() - pendingKey.at < SEQUENCE_TIMEOUT_MS ? `${pendingKey.key} ${name}` : null;
  pendingKey = null;
  const handler = (sequence === null ? undefined : findHandler(sequence)) ?? findHandler(name);
  if (handler !== undefined) {
    event.preventDefault();
    handler(event);
  } else if (layers.some((layer) => Object.keys(layer.current).some((key) => key.startsWith(`${name} `)))) {
    pendingKey = { key: name, at: Date.now() };
  }
}

/** Registers shortcuts while the component is mounted. */
export function useKeys(keys: KeyHandlers): void {
  const layer = useRef(keys);
  layer.current = keys;
  useEffect(() => {
    if (layers.length === 0) document.addEventListener('keydown', handleKey);
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (layers.length === 0) document.removeEventListener('keydown', handleKey);
    };
  }, []);
}
