import assert from 'node:assert/strict';

/**
 * Signs a browser in by the edge, and reads with its session from both origins, one of which streams. Returns a report.
 */
export async function signInByEdge(baseUrl: string, key: string): Promise<string> {
  const { origin } = new URL(baseUrl);
  const call = async (method: string, path: string, headers: Record<string, string>) => {
    const response = await fetch(`${baseUrl}${path}`, { method, headers: { origin, ...headers } });
    return { response, text: path.endsWith('/events') ? '' : await response.text() };
  };
  const { response, text } = await call('POST', '/session', { Authorization: `Bearer ${key}` });
  assert.equal(response.status, 200, text);
  const browser = {
    Cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    'Watchpost-Session': JSON.parse(text).proof,
  };
  const read = await call('GET', '/me', browser);
  assert.equal(JSON.parse(read.text).caller, 'owner');
  const followed = await call('GET', '/watches/events', { ...browser, Accept: 'text/event-stream' });
  assert.equal(followed.response.status, 200);
  await followed.response.body?.cancel();
  assert.equal((await call('POST', '/session', browser)).response.status, 200, 'a session was not renewed');
  const refused = await call('GET', '/me', { Cookie: browser.Cookie });
  assert.equal(refused.response.status, 401, 'a cookie alone was accepted');
  return 'signed in with a key, read and followed events with the session, and renewed it';
}
