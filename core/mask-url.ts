/**
 * The URL as it may be shown: the password of `user:password@` replaced. Text that parsers refuse, or read in more than one way, is
 * masked up to its last `@` before the query: whatever stands there may be a credential.
 */
export function maskUrl(url: string): string {
  return url.replace(isPlain(url) ? userInfoOfUrl : userInfoOfText, (_, scheme: string, userInfo: string) => {
    const user = userInfo.split(/[:/\\]/, 1)[0] ?? '';
    return user === userInfo ? `${scheme}${user}@` : `${scheme}${user}:***@`;
  });
}

const userInfoOfUrl = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i;
const userInfoOfText = /^(\s*[a-z][a-z0-9+.-]*:[/\\]*)([^?#]*)@/i;

/** A URL that every reader divides alike: an `@` of its path is no credential's end. */
function isPlain(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\\]/i.test(url) && !url.includes('\\') && URL.canParse(url);
}
