/** The URL as it may be shown: the password of `user:password@` replaced. Text that is no URL is cut to nothing worth stealing. */
export function maskUrl(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i, (_, scheme: string, userInfo: string) => {
    const user = userInfo.split(':', 1)[0] ?? '';
    return userInfo.includes(':') ? `${scheme}${user}:***@` : `${scheme}${user}@`;
  });
}
