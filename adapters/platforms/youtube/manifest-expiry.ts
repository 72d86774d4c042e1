/**
 * Returns the expiry of a YouTube manifest: Unix seconds in its path (`/expire/1700000000/`) or query. Returns null
 * if absent.
 */
export function manifestExpiry(manifestUrl: string): Date | null {
  const { pathname, searchParams } = new URL(manifestUrl);
  const seconds = /\/expire\/(\d{9,11})(\/|$)/.exec(pathname)?.[1] ?? searchParams.get('expire');
  return seconds !== null && /^\d{9,11}$/.test(seconds) ? new Date(Number(seconds) * 1000) : null;
}
