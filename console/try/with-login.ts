/** Returns a stream URL with user name and password, percent-encoded. Without a user name the URL stays unchanged. */
export function withLogin(url: string, username: string, password: string): string {
  if (username === '') return url;
  const login = [username, password].map(encodeURIComponent).join(':');
  return url.replace('://', () => `://${login}@`);
}
