export function Logo() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
      <path d="M2 15.5 9 2.5l7 13" fill="none" stroke="currentColor" strokeWidth="2.4" strokeLinejoin="round" strokeLinecap="round" />
      <circle cx="9" cy="13" r="2.3" fill="currentColor" />
    </svg>
  );
}
