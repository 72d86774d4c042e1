import { createApi, type CallOptions } from '../api.ts';
import { Skipped, type Case, type Target } from '../case.ts';
import { assert, eventually, refused } from '../expect.ts';
import { unknownJobId } from '../jobs.ts';

/** Cases of section 5. */

const endpoints: [string, string, unknown?][] = [
  ['POST', '/check-once', {}],
  ['POST', '/live-monitor', {}],
  ['POST', '/live-digest', {}],
  ['POST', '/streams/validate', {}],
  ['POST', '/analyze-frame', {}],
  ['GET', '/jobs'],
  ['GET', `/jobs/${unknownJobId}`],
  ['DELETE', `/jobs/${unknownJobId}`],
  ['GET', '/metrics'],
  ['GET', '/logs'],
];

const unauthorized = { status: 401 };
const forbidden = { status: 403 };

export const authCases: Case[] = [
  {
    id: 'auth-missing-key',
    title: 'every endpoint rejects a request without a key with 401 and the error envelope',
    covers: ['I-5.1', 'I-5.3', 'I-4.0.1', 'I-7.11', 'I-4.1.7'],
    run: async (target) => {
      for (const [method, path, body] of endpoints)
        refused(await keyless(target, method, path, body), unauthorized, `${method} ${path}`);
    },
  },
  {
    id: 'auth-invalid-key',
    title: 'every endpoint rejects an invalid key with 401',
    covers: ['I-5.3', 'I-5.8'],
    run: async (target) => {
      for (const [method, path, body] of endpoints) {
        for (const key of ['wp_nonsense', altered(target.api.key)]) {
          const headers = { authorization: `Bearer ${key}` };
          refused(await keyless(target, method, path, body, { headers }), unauthorized, `${method} ${path}`);
        }
      }
    },
  },
  mistake('auth-missing-prefix', 'a key without the Bearer prefix returns 401', (key) => ({
    authorization: key,
  })),
  mistake('auth-other-scheme', 'a scheme other than Bearer returns 401', (key) => ({
    authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
  })),
  mistake('auth-extra-space', 'an extra space after Bearer returns 401', (key) => ({
    authorization: `Bearer  ${key}`,
  })),
  mistake('auth-space-in-key', 'text after the key returns 401', (key) => ({
    authorization: `Bearer ${key} x`,
  })),
  mistake('auth-other-header', 'a key in another header returns 401', (key) => ({
    'x-api-key': key,
    'api-key': key,
    'x-authorization': `Bearer ${key}`,
  })),
  {
    id: 'auth-query',
    title: 'a key in the query returns 401',
    covers: ['I-5.4'],
    run: async (target) => {
      refused(
        await keyless(target, 'GET', `/jobs?api_key=${target.api.key}&key=${target.api.key}`),
        unauthorized,
        'GET /jobs',
      );
    },
  },
  {
    id: 'auth-valid-key',
    title: 'a valid key with the Bearer scheme is accepted',
    covers: ['I-5.1', 'I-4.0.2', 'I-0.1'],
    run: async ({ api }) => {
      const { status } = await api.call('GET', '/jobs');
      assert.equal(status, 200);
    },
  },
  {
    id: 'internal-needs-scope',
    title: '/metrics and /logs reject a key without internal access with 403 for any headers',
    covers: ['I-5.5', 'I-7.11', 'I-4.9.1'],
    run: async ({ api }) => {
      for (const path of ['/metrics', '/logs']) {
        refused(await api.call('GET', path), forbidden, path);
        const headers = { 'x-service-internal': 'true' };
        refused(await api.call('GET', path, undefined, { headers }), forbidden, path);
      }
    },
  },
  {
    id: 'internal-needs-header',
    title: '/metrics and /logs reject an internal key without X-Service-Internal: true with 403',
    covers: ['I-5.6', 'I-5.5'],
    needs: ['internal key'],
    run: async ({ internal }) => {
      for (const path of ['/metrics', '/logs']) {
        for (const value of ['', 'false', '1']) {
          const headers = { 'x-service-internal': value };
          refused(await internal.call('GET', path, undefined, { headers }), forbidden, path);
        }
        const { status } = await internal.call('GET', path);
        assert.equal(status, 200, path);
      }
    },
  },
  {
    id: 'auth-codes',
    title: 'the codes are UNAUTHORIZED and FORBIDDEN, and a 401 contains the scheme',
    covers: ['I-5.3', 'I-5.5', 'I-7.11'],
    needs: ['decisions'],
    run: async (target) => {
      const answer = await keyless(target, 'GET', '/jobs');
      refused(answer, { status: 401, code: 'UNAUTHORIZED' }, 'GET /jobs');
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
      refused(await target.api.call('GET', '/logs'), { status: 403, code: 'FORBIDDEN' }, 'GET /logs');
    },
  },
  {
    id: 'auth-key-format',
    title: 'a key consists of wp_ and characters that need no quoting',
    covers: ['I-5.8'],
    needs: ['decisions'],
    run: async ({ api }) => assert.match(api.key, /^wp_[\w-]{43,}$/),
  },
  {
    id: 'auth-keys',
    title: 'a caller creates a second key, which works until revoked, but none with more scopes than its own',
    covers: ['I-5.2', 'I-5.7', 'I-5.8', 'I-5.3'],
    needs: ['decisions'],
    seconds: 20,
    run: async (target) => {
      const { api } = target;
      const tooMuch = await api.call('POST', '/keys', { scopes: ['jobs', 'internal', 'admin'] });
      refused(tooMuch, forbidden, 'POST /keys with more scopes');
      const made = await api.call('POST', '/keys', { label: 'conformance' });
      assert.equal(made.status, 200, made.text);
      const headers = { authorization: `Bearer ${made.body.key}` };
      const use = () => keyless(target, 'GET', '/jobs', undefined, { headers });
      assert.equal((await use()).status, 200);
      const listed = await api.call('GET', '/keys');
      assert.ok(!listed.text.includes(made.body.key), 'the list contains a whole key');
      assert.ok(listed.text.includes(made.body.key_id), listed.text);
      assert.equal((await api.call('DELETE', `/keys/${made.body.key_id}`)).status, 200);
      await eventually('the key is rejected', 60, use, ({ status }) => status === 401);
    },
  },
];

function mistake(id: string, title: string, toHeaders: (key: string) => Record<string, string>): Case {
  return {
    id,
    title,
    covers: ['I-5.4', 'I-5.3'],
    run: async (target) => {
      if (target.api.key === '') throw new Skipped('No key given');
      const options = { headers: toHeaders(target.api.key) };
      refused(await keyless(target, 'GET', '/jobs', undefined, options), unauthorized, 'GET /jobs');
    },
  };
}

function keyless({ api }: Target, method: string, path: string, body?: unknown, options?: CallOptions) {
  return createApi({ baseUrl: api.baseUrl, key: '', signal: AbortSignal.timeout(30_000) }).call(
    method,
    path,
    body,
    options,
  );
}

/** Returns the key with one changed character in the middle. */
function altered(key: string): string {
  const at = Math.floor(key.length / 2);
  return `${key.slice(0, at)}${key[at] === 'a' ? 'b' : 'a'}${key.slice(at + 1)}`;
}
