// Light or dark theme: the system's, unless this browser has a setting.
const THEME_STORAGE_KEY = 'adjutant.theme';

export type Theme = 'system' | 'light' | 'dark';

export function getTheme(): Theme {
  const stored = localStorage.getItem(THEME_STORAGE_KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function setTheme(next: Theme): void {
  if (next === 'system') {
    localStorage.removeItem(THEME_STORAGE_KEY);
    delete document.documentElement.dataset['theme'];
  } else {
    localStorage.setItem(THEME_STORAGE_KEY, next);
    document.documentElement.dataset['theme'] = next;
  }
}

/** Switches between light and dark. */
export function toggleTheme(): void {
  const isDark = getTheme() === 'dark' || (getTheme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  setTheme(isDark ? 'light' : 'dark');
}
