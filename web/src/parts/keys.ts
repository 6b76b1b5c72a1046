// Keyboard shortcuts. Mounted components register handlers, and the newest one wins. Single keys
// are ignored while the visitor types, and can be turned off.
import { useEffect, useRef } from 'react';

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const SETTING = 'adjutant.keys';
const SEQUENCE_MS = 1200;
const layers: { current: Keys }[] = [];
let begun: { key: string; at: number } | null = null;

export function singleKeysOn(): boolean {
  return localStorage.getItem(SETTING) !== 'off';
}

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(SETTING, on ? 'on' : 'off');
}

/** Name of a pressed key: `x`, `X` (with shift), `mod+k`, `Escape`. */
export function nameOf(event: Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey'>): string {
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

function find(name: string): ((event: KeyboardEvent) => void) | undefined {
  for (const layer of layers.toReversed()) {
    const act = layer.current[name];
    if (act !== undefined) return act;
  }
  return undefined;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const name = nameOf(event);
  const single = !name.startsWith('mod+') && !name.startsWith('alt+');
  if (single && (isTyping(event.target) || !singleKeysOn())) return;
  const sequence = begun !== null && Date.now() - begun.at < SEQUENCE_MS ? `${begun.key} ${name}` : null;
  begun = null;
  const act = (sequence === null ? undefined : find(sequence)) ?? find(name);
  if (act !== undefined) {
    event.preventDefault();
    act(event);
  } else if (layers.some((layer) => Object.keys(layer.current).some((key) => key.startsWith(`${name} `)))) {
    begun = { key: name, at: Date.now() };
  }
}

/** Registers shortcuts while the component is mounted. */
export function useKeys(keys: Keys): void {
  const layer = useRef(keys);
  layer.current = keys;
  useEffect(() => {
    if (layers.length === 0) document.addEventListener('keydown', onKey);
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (layers.length === 0) document.removeEventListener('keydown', onKey);
    };
  }, []);
}
