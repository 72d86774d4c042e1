/**
 * The URL as it may be shown: the password of `user:password@` replaced. Works on text that parsers would refuse or read otherwise
 * too: whatever stands between the scheme and the last `@` before the query may be a credential.
 */
export function maskUrl(url: string): string {
  return url.replace(/^(\s*[a-z][a-z0-9+.-]*:[/\\]*)([^?#]*)@/i, (_, scheme: string, userInfo: string) => {
    const user = userInfo.split(/[:/\\]/, 1)[0] ?? '';
    return user === userInfo ? `${scheme}${user}@` : `${scheme}${user}:***@`;
  });
}
