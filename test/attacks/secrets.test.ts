import { beforeEach, expect, test } from 'vitest';
import { createLineLog, teeLog } from '../../adapters/embedded/log/log.ts';
import { createApp } from '../../adapters/http/app.ts';
import { mountMcp } from '../../adapters/mcp/mount-mcp.ts';
import { StreamFetchError } from '../../core/errors.ts';
import { deliver } from '../../core/delivery/deliver.ts';
import { redactedLog } from '../../core/observability/redact.ts';
import { createClientFor, internal, type ApiClient } from '../support/api/api-client.ts';
import { createWorld, type World } from '../support/world.ts';
import { signedUrls } from './vectors/signed-urls.ts';

let world: World;
/** One of each test, from its first request on. */
let app: ReturnType<typeof createApp> | undefined;
let client: ApiClient;
/** All outputs by name. */
let outputs: Record<string, string>;

beforeEach(async () => {
  world = createWorld();
  app = undefined;
  client = await createClientFor(world);
  outputs = {};
});

const condition = 'a ship enters the lock';

/**
 * Kinds of URLs that differ most: `mask-url.test.ts` and `redact.test.ts` have all of them, by which each output masks.
 */
const kinds = [
  'CloudFront, a signed URL',
  'Akamai, a token in the path',
  'a jwt in the path',
  'a key as the user, with no password',
  'RTSP, user and password',
  'a camera, user and password in a word of the path',
  'a value without a name',
  'a fragment',
  'a URL within the query',
  'a receiver of Slack',
];
const told = signedUrls.filter(({ kind }) => kinds.includes(kind));

test('each kind of signed URL that differs most is in the list', () =>
  expect(told).toHaveLength(kinds.length));

test.each(told)('secrets of a URL ($kind) appear in no output', async ({ url, secrets }) => {
  writeLinesToo();
  await goWell(url);
  await goWrong(url);
  await readLogs();
  for (const [output, text] of Object.entries(outputs))
    for (const secret of secrets)
      expect([output, text]).not.toEqual([output, expect.stringContaining(secret)]);
  expect(Object.keys(outputs).length).toBeGreaterThan(15);
  // No part of the secret is in texts that others read; the host is enough for the operator.
  expect(outputs['the log']).toContain(new URL(url).hostname);
});

/** Writes standard error like `watchpost start`. */
function writeLinesToo(): void {
  const write = (line: string) => keep('standard error', line);
  const lines = createLineLog({ level: 'debug', now: world.c.now, write, humanReadable: false });
  world.c.log = teeLog(world.c.log, redactedLog(lines));
}

async function goWell(url: string): Promise<void> {
  await ask('validation', 'POST', '/streams/validate', { stream_url: url });
  await ask('a check', 'POST', '/check-once', { stream_url: url, condition });
  await ask('a test of a webhook', 'POST', '/webhook-test', { webhook_url: asHttp(url) });
  const job = await ask('a new job', 'POST', '/live-monitor', {
    stream_url: url,
    condition,
    webhook_url: asHttp(url),
  });
  world.script.verdicts.push(true);
  world.script.webhooks.push({ status: null, error: 'Connection was refused' });
  await world.tick(await world.begin({ run_id: job.job_id, generation: 0 }));
  for (const message of world.queued.splice(0)) await deliver(message, world.c);
  keep('webhooks', JSON.stringify(world.sent.map(({ headers, body }) => ({ headers, body }))));
  await ask('a job', 'GET', `/jobs/${job.job_id}`);
  await ask('the list of jobs', 'GET', '/jobs');
  await ask('events', 'GET', `/jobs/${job.job_id}/events`);
  await ask('deliveries', 'GET', `/jobs/${job.job_id}/deliveries`);
  await askMcp('get_job', { job_id: job.job_id });
  await askMcp('validate_stream', { stream_url: url });
  await ask('a cancelled job', 'DELETE', `/jobs/${job.job_id}`);
  await ask('an event stream', 'GET', `/jobs/${job.job_id}/events`, undefined, {
    accept: 'text/event-stream',
  });
}

async function goWrong(url: string): Promise<void> {
  for (const field of ['stream_url', 'webhook_url', 'condition', 'caller'])
    await ask(`a validation error of ${field}`, 'POST', '/live-monitor', {
      [field]: url.padEnd(2100, 'x'),
      interval_seconds: url,
    });
  world.script.probe = new Error(`connect ECONNREFUSED at ${url}`);
  await ask('a defect', 'POST', '/live-monitor', { stream_url: url, condition });
  world.script.probe = new StreamFetchError('Try again.', undefined, { cause: new Error(url) });
  await ask('an error', 'POST', '/live-monitor', { stream_url: url, condition });
  await ask('an error of a validation', 'POST', '/streams/validate', { stream_url: url });
  world.script.probe = undefined;
  world.c.executions.start = async () => {
    throw new Error(`cannot start "${url}"`);
  };
  await ask('a job without an execution', 'POST', '/live-digest', { stream_url: url });
}

async function readLogs(): Promise<void> {
  const operator = await createClientFor(world, ['internal'], 'airport');
  for (const [name, path] of Object.entries({ 'the log': '/logs?limit=500', metrics: '/metrics' })) {
    const { status, body } = await operator.call('GET', path, undefined, internal);
    expect(status).toBe(200);
    keep(name, JSON.stringify(body));
  }
}

async function ask(name: string, method: string, path: string, body?: object, headers = {}): Promise<any> {
  app ??= createApp(world.c);
  const response = await app.request(`/api${path}`, {
    method,
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  keep(name, `${response.status} ${JSON.stringify([...response.headers])} ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : undefined;
}

async function askMcp(name: string, given: object): Promise<void> {
  const withMcp = createApp(world.c);
  mountMcp(withMcp, world.c);
  const response = await withMcp.request('http://watchpost.test/mcp', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  });
  expect(response.status).toBe(200);
  keep(`MCP: ${name}`, await response.text());
}

function keep(name: string, text: string): void {
  outputs[name] = `${outputs[name] ?? ''}${text}\n`;
}

function asHttp(url: string): string {
  return url.replace(/^rtsp:/, 'http:');
}
