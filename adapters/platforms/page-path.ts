/** The parts of a URL's path, decoded; empty ones (doubled or trailing slashes) are left out. Null where they cannot be decoded. */
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

/** In lower case, without a trailing dot. */
export function pageHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
