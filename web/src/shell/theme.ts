// Light or dark theme: the system's, unless this browser has a setting.
const SETTING = 'adjutant.theme';

export type Theme = 'system' | 'light' | 'dark';

export function theme(): Theme {
  const kept = localStorage.getItem(SETTING);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function setTheme(next: Theme): void {
  if (next === 'system') {
    localStorage.removeItem(SETTING);
    delete document.documentElement.dataset['theme'];
  } else {
    localStorage.setItem(SETTING, next);
    document.documentElement.dataset['theme'] = next;
  }
}

/** Switches between light and dark. */
export function otherTheme(): void {
  const dark = theme() === 'dark' || (theme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  setTheme(dark ? 'light' : 'dark');
}
