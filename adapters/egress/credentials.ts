/** Credentials from a stream URL, decoded. */
export type Credentials = { username: string; password: string };

/** Returns the credentials of a URL, or null if it has none. */
export function readCredentials({ username, password }: URL): Credentials | null {
  if (username === '' && password === '') return null;
  return { username: decodeLeniently(username), password: decodeLeniently(password) };
}

/** Decodes a part of the URL. Returns it unchanged if a password contains a bare percent sign. */
function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
