import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../adapters/http/app.ts';
import { endpoints } from '../../../adapters/http/endpoints/endpoints.ts';
import { toStructuredResult } from '../../../adapters/mcp/mcp-server.ts';
import { mountMcp } from '../../../adapters/mcp/mount-mcp.ts';
import { listen, type HttpServer } from '../../../cli/service/http-server.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import type { Scope } from '../../../core/records/key.ts';
import { readKey, tellApiStory } from '../../support/api/api-story.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Official client over real HTTP. */

let world: World;
let server: HttpServer;
let origin: string;
let clients: Client[] = [];

beforeEach(async () => {
  world = createWorld();
  server = await listen('127.0.0.1', 0);
  origin = `http://127.0.0.1:${server.port}`;
  const c = { ...world.c, baseUrl: `${origin}/api` };
  const app = createApp(c);
  mountMcp(app, c);
  server.serve((request) => app.fetch(request));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await server.close();
});

async function connect(scopes: Scope[] = ['jobs', 'keys', 'internal', 'admin']): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  clients.push(client);
  const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${await readKey(world, scopes)}` } },
  });
  await client.connect(transport);
  return client;
}

const monitor = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship enters the lock' };

/** Metrics as text for Prometheus are no tool: it would repeat `metrics`. */
const withoutTool = [
  'alert_clip',
  'create_sign_in_code',
  'prometheus_metrics',
  'list_cameras',
  'camera_streams',
];
/** Tools of a key with all scopes. The client compiles all output schemas with each list: seconds of processor time. */
let listed: ReturnType<Client['listTools']> | undefined;
const listTools = async () => (listed ??= (await connect()).listTools());

const toolIds = endpoints.map(({ id }) => id).filter((id) => !withoutTool.includes(id));

test('the server names the version of the software, and the tools for what happened', async () => {
  const client = await connect();
  expect(client.getServerVersion()).toMatchObject({ name: 'watchpost', version: '1.2.3' });
  const named = client.getInstructions()?.match(/\w+_\w+/g) ?? [];
  expect(named).toEqual(expect.arrayContaining(['ask_moments', 'list_alerts']));
  expect(named.filter((name) => !['next_after', ...toolIds].includes(name))).toEqual([]);
});

test('every operation is a tool with schemas that can be called', async () => {
  const client = await connect();
  // The client caches the output schemas and validates every result against them, also of failed calls.
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(toolIds);
  const succeeded = new Set<string>();
  await tellApiStory(async (id, given = {}) => {
    if (!toolIds.includes(id)) return undefined;
    const result: any = await client.callTool({ name: id, arguments: given });
    if (!result.isError) succeeded.add(id);
    expect(result.content).not.toHaveLength(0);
    return result.structuredContent;
  }, world);
  expect([...succeeded].toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});

test('the list of all tools takes at most 300 kB: output schemas do not repeat the codes and fields of errors', async () => {
  const text = JSON.stringify(await listTools());
  expect(text.length).toBeLessThan(300_000);
});

test('a tool accepts the arguments of its endpoint: names, types, limits and defaults', async () => {
  const { tools } = await listTools();
  const tool = tools.find(({ name }) => name === 'live_monitor');
  expect(tool?.inputSchema).toMatchObject({
    required: ['stream_url', 'condition'],
    properties: {
      interval_seconds: { type: 'integer', minimum: 5, maximum: 300, default: 10 },
      idempotency_key: { type: 'string' },
    },
  });
  for (const { request } of endpoints) {
    const names = Object.values(request).flatMap((part) => Object.keys(part?.shape ?? {}));
    expect(new Set(names).size).toBe(names.length);
  }
});

test('descriptions of tools, arguments and results name tools and arguments, not requests and headers', async () => {
  const text = JSON.stringify((await listTools()).tools);
  expect(
    text.match(/(?:GET|POST|PUT|PATCH|DELETE) \/[^"]*|Idempotency-Key|Last-Event-ID|Accept:|last_event_id/g),
  ).toBeNull();
  expect(text).toContain('which job_frame returns');
});

test('the next step of an error or a creation is a tool', async () => {
  const client = await connect();
  const created: any = await client.callTool({ name: 'live_monitor', arguments: monitor });
  expect(created.structuredContent.message).toBe('Monitor accepted. Poll get_job.');
  const { job_id } = created.structuredContent;
  await client.callTool({ name: 'cancel_job', arguments: { job_id } });
  const again: any = await client.callTool({ name: 'cancel_job', arguments: { job_id } });
  expect(again.structuredContent.error.remediation).toBe('Nothing to do: read its final state with get_job.');
});

test('only tools whose repetition changes nothing are annotated as idempotent', async () => {
  const { tools } = await listTools();
  const changing = tools.filter(
    ({ annotations }) => !annotations?.readOnlyHint && annotations?.idempotentHint,
  );
  expect(changing.map(({ name }) => name).toSorted()).toEqual([
    'add_caller',
    'delete_caller',
    'relabel_key',
    'replace_webhook_defaults',
    'revoke_key',
  ]);
});

test('the text of a long result is cut, and its structured content is whole', () => {
  const { content, structuredContent } = toStructuredResult({ text: 'x'.repeat(30_000) });
  expect(content[0]?.text).toMatch(/^\{"text":"x+… \(cut after 25000 of 30011 characters: .*limit\)$/);
  expect(structuredContent['text']).toHaveLength(30_000);
});

test('a response is structured content, and text for clients without it', async () => {
  const client = await connect();
  world.script.verdicts.push(true);
  const result: any = await client.callTool({ name: 'check_once', arguments: monitor });
  expect(result.structuredContent).toEqual({
    triggered: true,
    explanation: 'It is there.',
    latency_ms: expect.any(Number),
  });
  expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
});

test('a frame is an image block and not part of the text', async () => {
  const client = await connect();
  const result: any = await client.callTool({
    name: 'check_once',
    arguments: { ...monitor, include_frame: true },
  });
  expect(result.content).toEqual([
    { type: 'text', text: expect.not.stringContaining('frame_b64') },
    { type: 'image', mimeType: 'image/jpeg', data: expect.stringMatching(/^\/9[A-Za-z0-9+/]+=*$/) },
  ]);
  expect(result.structuredContent).not.toHaveProperty('frame_b64');
});

describe('errors are results that the model can read', () => {
  test.each([
    ['stream', { ...monitor }, { error: { code: 'STREAM_FETCH_FAILED', remediation: 'Try later.' } }],
    ['validation', { stream_url: 'x' }, { detail: [{ loc: ['body', 'condition'], type: 'missing' }] }],
  ])('a %s error is a result that the model can read', async (_, given, expected) => {
    world.script.captures.push(new StreamFetchError('Try later.'));
    const result: any = await (await connect()).callTool({ name: 'check_once', arguments: given });
    expect(result).toMatchObject({ isError: true, structuredContent: expected });
  });

  test('a path that does not fit the schema is a validation error', async () => {
    const client = await connect();
    expect(await client.callTool({ name: 'get_job', arguments: {} })).toMatchObject({
      isError: true,
      structuredContent: { detail: [{ loc: ['path', 'job_id'], type: 'missing' }] },
    });
    expect(await client.callTool({ name: 'get_job', arguments: { job_id: '../keys' } })).toMatchObject({
      isError: true,
      structuredContent: { detail: [{ loc: ['path', 'job_id'], type: 'invalid_format' }] },
    });
  });

  test.each([
    [
      'live_digest',
      { stream_url: monitor.stream_url, window_seconds: 60 },
      /^Ignored: window_seconds; did you mean window_minutes\?$/,
    ],
    [
      'live_monitor',
      { ...monitor, idempotencyKey: 'once' },
      /^Ignored: idempotencyKey; did you mean idempotency_key\?$/,
    ],
    ['list_jobs', { colour: 'red' }, /^Ignored: colour\.$/],
  ])(
    'the tool %s ignores the unknown argument of %j and says so, as the API does',
    async (name, given, notice) => {
      const result: any = await (await connect()).callTool({ name, arguments: given });
      expect(result.isError).toBeFalsy();
      expect(result.content.at(-1).text).toMatch(notice);
    },
  );

  test('an unknown argument in place of one that is required is named with it', async () => {
    const { stream_url, condition } = monitor;
    const result: any = await (
      await connect()
    ).callTool({ name: 'live_monitor', arguments: { stream: stream_url, condition } });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        detail: [
          {
            loc: ['body', 'stream_url'],
            ctx: { remediation: expect.stringMatching(/did you mean stream_url/) },
          },
        ],
      },
    });
  });

  test('an invalid header value is a validation error', async () => {
    const result = await (
      await connect()
    ).callTool({ name: 'live_monitor', arguments: { ...monitor, idempotency_key: 'ключ\n' } });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { detail: [{ loc: ['header', 'Idempotency-Key'] }] },
    });
  });

  test('the call limits are the same as over HTTP', async () => {
    const client = await connect();
    for (let made = 0; made < 119; made += 1) {
      const admission = await world.c.calls.admit('harbour');
      if (admission.kind === 'admitted') await admission.release();
    }
    const last: any = await client.callTool({ name: 'check_once', arguments: monitor });
    expect(last.isError).toBeFalsy();
    expect(await client.callTool({ name: 'check_once', arguments: monitor })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'RATE_LIMITED' } },
    });
  });
});

describe('keys', () => {
  test('keys list the tools of their scopes and cannot call others', async () => {
    const client = await connect(['jobs']);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('live_monitor');
    expect(names).not.toContain('metrics');
    expect(names).not.toContain('add_caller');
    expect(await client.callTool({ name: 'metrics', arguments: {} })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'FORBIDDEN' } },
    });
  });

  test.each([
    ['no key', {}],
    ['an unknown key', { Authorization: 'Bearer wp_nothing' }],
  ])('a request with %s returns 401 with a remediation', async (_, headers: Record<string, string>) => {
    const response = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
  });
});

describe('the transport', () => {
  test.each(['GET', 'DELETE', 'PUT'])(
    'the method %s returns 405, since there are no sessions',
    async (method) => {
      const response = await fetch(`${origin}/mcp`, {
        method,
        headers: { Authorization: `Bearer ${await readKey(world)}`, Accept: 'text/event-stream' },
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('Allow')).toBe('POST');
    },
  );

  test('a request leaves no state and gets a JSON response', async () => {
    const response = await post(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_jobs', arguments: {} } },
      { Authorization: `Bearer ${await readKey(world)}` },
    );
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { total: 0 } } });
  });

  test.each(['*/*', 'application/json', 'text/event-stream', ''])(
    'a request with the Accept header "%s" gets a JSON response',
    async (accept) => {
      const response = await post(
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { Authorization: `Bearer ${await readKey(world)}`, Accept: accept },
      );
      expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    },
  );

  test.each([
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }], -32_600, 'batches'],
    ['a batch of a hundred calls', Array.from({ length: 100 }, creation), -32_600, 'batches'],
    ['text that is not JSON', '{', -32_700, 'JSON'],
  ])('a request with %s is rejected and calls no tool', async (_, body, code, message) => {
    const response = await post(body, { Authorization: `Bearer ${await readKey(world)}` });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code, message: expect.stringContaining(message) },
    });
    expect(await world.c.jobs.usage()).toMatchObject({ jobs_created: 0 });
  });

  test('a body above the limit is rejected', async () => {
    const response = await post(
      { padding: 'x'.repeat(5_200_000) },
      { Authorization: `Bearer ${await readKey(world)}` },
    );
    expect(response.status).toBe(413);
  });

  test('a key without the scope for pictures may send what its endpoints need', async () => {
    const headers = { Authorization: `Bearer ${await readKey(world, ['read'])}` };
    expect((await post({ padding: 'x'.repeat(300_000) }, headers)).status).toBe(413);
    expect((await post({ padding: 'x'.repeat(30_000) }, headers)).status).toBe(400);
  });

  test('a large body counts as a call, whatever is in it', async () => {
    const headers = { Authorization: `Bearer ${await readKey(world)}` };
    const admitted: string[] = [];
    world.c.calls.admit = async (caller) => {
      admitted.push(caller);
      return { kind: 'refused', limit: 'per minute', max: 60, retryAfterSeconds: 7 };
    };
    expect((await post({ padding: 'x'.repeat(1_000_000) }, headers)).status).toBe(429);
    expect((await post({ padding: 'x'.repeat(1_000) }, headers)).status).toBe(400);
    expect(admitted).toHaveLength(1);
  });

  test('a body of many levels is refused before it is parsed', async () => {
    const headers = { Authorization: `Bearer ${await readKey(world)}` };
    const nested = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`);
    expect((await post({ nested }, headers)).status).toBe(400);
  });

  test.each([
    ['Origin', 'http://evil.example', 403],
    ['Origin', 'null', 403],
    ['Origin', 'http://192.168.1.20:8787', 403],
    ['Origin', 'http://localhost:6274', 200],
    ['Origin', 'http://127.0.0.1.evil.example', 403],
    ['Host', 'evil.example:8787', 403],
    ['Host', 'localhost', 200],
  ])('the header %s: %s is answered with status %i', async (name, value, status) => {
    const app = createApp(world.c);
    mountMcp(app, { ...world.c, baseUrl: 'http://127.0.0.1:8787/api' });
    const response = await app.request('http://127.0.0.1:8787/mcp', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${await readKey(world)}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        [name]: value,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(response.status).toBe(status);
  });
});

test('a page of a host in the network can call /mcp of that host only', async () => {
  const c = { ...world.c, acceptsHost: () => true, baseUrl: 'http://127.0.0.1:8787/api' };
  const app = createApp(c);
  mountMcp(app, c);
  const call = async (headers: Record<string, string>) => {
    const authorization = `Bearer ${await readKey(world)}`;
    return (
      await app.request('/mcp', {
        method: 'POST',
        headers: {
          authorization,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      })
    ).status;
  };
  const host = '192.168.1.20:8787';
  expect(await call({ Host: host, Origin: `http://${host}` })).toBe(200);
  expect(await call({ Host: host, Origin: 'http://192.168.1.66' })).toBe(403);
});

function creation(_: unknown, id: number) {
  const params = { name: 'live_monitor', arguments: monitor };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

function post(message: object | string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}
