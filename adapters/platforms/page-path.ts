/**
 * Returns the decoded parts of a URL path without empty ones (doubled or trailing slashes), or null if decoding
 * fails.
 */
export function pagePath({ pathname }: URL): string[] | null {
  try {
    return pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** Returns the host in lower case, without a trailing dot. */
export function pageHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
