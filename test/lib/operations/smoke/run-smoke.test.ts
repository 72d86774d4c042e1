import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { runSmoke, toExitCode } from '../../../../lib/operations/smoke/run-smoke.ts';
import type { SmokeClient, SmokeDeps, SmokeOptions } from '../../../../lib/operations/smoke/run-smoke.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes: ok').toString('base64')}`;
const alert = {
  type: 'watch_triggered',
  timestamp: '2026-11-22T12:00:00Z',
  data: { job_id: 'job_1', sequence: 3 },
};

function signed(body: object, key = secret) {
  const text = JSON.stringify(body);
  const signature = new Webhook(key).sign('msg_1', new Date(), text);
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    headers: { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature },
    body: text,
  };
}

/** Deployment that works, with a log of what the test did. */
function deployment(
  broken: { client?: Partial<Record<keyof SmokeClient, any>>; deps?: Partial<SmokeDeps> } = {},
) {
  const done: string[] = [];
  let clock = 0;
  const client: any = {
    validateStream: async () => ({ is_live: true }),
    getWebhookSecret: async () => ({ secret }),
    startMonitor: async ({ stream_url: url }: any) => (done.push(`monitor ${url}`), { job_id: 'job_1' }),
    follow: async function* () {
      yield { type: 'job_started', data: { sequence: 1 } };
      yield alert;
    },
    picture: async () => Uint8Array.of(0xff, 0xd8, 0xff),
    cancelJob: async () => done.push('cancel'),
    ...broken.client,
  };
  const hooks = [signed({ ...alert, type: 'job_started' }), signed(alert)];
  const deps: SmokeDeps = {
    readBaseUrl: async () => 'https://host.example/api',
    createHelper: async () => ({
      url: 'https://helper.example',
      receive: async () => hooks.splice(0, 1),
      hold: async (seconds) => (done.push('hold'), seconds + 0.4),
    }),
    removeHelper: async () => void done.push('remove helper'),
    createKey: async () => ({ text: 'wp_key', caller: 'smoke-1', id: 'id' }),
    removeCaller: async (_, { caller }) => void done.push(`remove ${caller}`),
    connect: () => client,
    elapsedMs: () => (clock += 500),
    report: () => undefined,
    ...broken.deps,
  };
  const run = (options: Partial<SmokeOptions> = {}, signal = new AbortController().signal) =>
    runSmoke({ condition: 'x', holdSeconds: 290, timeoutSeconds: 60, ...options }, deps, signal);
  return { done, run };
}
const failed = (steps: { step: string; ok: boolean }[]) =>
  steps.filter(({ ok }) => !ok).map(({ step }) => step);

test('a working deployment passes each step, with its time, and nothing remains', async () => {
  const { done, run } = deployment();
  const report = await run();
  expect(report.steps.map(({ step }) => step).toSorted()).toEqual(
    [
      'burst',
      'event stream',
      'evidence',
      'helper',
      'key',
      'monitor',
      'removal',
      'stack',
      'validate',
      'webhook',
    ].toSorted(),
  );
  for (const { seconds } of report.steps) expect(seconds).toBeGreaterThan(0);
  expect(report.steps.find(({ step }) => step === 'burst')?.found).toContain('held for 290.4 s');
  expect(done.slice(-3)).toEqual(['cancel', 'remove smoke-1', 'remove helper']);
  expect([report.ok, report.left, toExitCode(report)]).toEqual([true, [], 0]);
});

test('a stream of the operator replaces that of the helper, and no execution is held for 0 s', async () => {
  const { done, run } = deployment();
  await run({ url: 'rtsp://camera.example/1', holdSeconds: 0 });
  expect(done).toContain('monitor rtsp://camera.example/1');
  expect(done).not.toContain('hold');
});

test.for<[string, Parameters<typeof deployment>[0], string]>([
  ['the stack', { deps: { readBaseUrl: () => Promise.reject(new Error('no')) } }, 'stack'],
  ['the helper', { deps: { createHelper: () => Promise.reject(new Error('no')) } }, 'helper'],
  ['the key', { deps: { createKey: () => Promise.reject(new Error('no')) } }, 'key'],
  [
    'the stream',
    { client: { validateStream: async () => ({ is_live: false, error_hint: 'offline' }) } },
    'validate',
  ],
  ['the monitor', { client: { startMonitor: () => Promise.reject(new Error('no')) } }, 'monitor'],
  [
    'the alert',
    {
      client: {
        follow: async function* () {
          yield { type: 'job_stopped', data: { sequence: 1, reason: 'stream_lost' } };
        },
      },
    },
    'event stream',
  ],
  ['the evidence', { client: { picture: async () => Uint8Array.of(1, 2) } }, 'evidence'],
])('a failure of %s ends the test with exit code 1 and removes what exists', async ([, broken, step]) => {
  const { done, run } = deployment(broken);
  const report = await run();
  expect(failed(report.steps)).toEqual([step]);
  expect(toExitCode(report)).toBe(1);
  expect(done.includes('remove helper')).toBe(step !== 'stack');
  expect(done.includes('remove smoke-1')).toBe(!['stack', 'helper', 'key'].includes(step));
});

test('a webhook with a wrong signature fails the test', async () => {
  const other = `whsec_${Buffer.from('another secret of thirty-two byt').toString('base64')}`;
  const { run } = deployment({
    deps: {
      createHelper: async () => ({
        url: 'https://helper.example',
        receive: async () => [signed(alert, other)],
        hold: async () => 1,
      }),
    },
  });
  expect(failed((await run()).steps)).toEqual(['webhook']);
});

test('a synchronous execution that ends early fails the test after all other steps', async () => {
  const { run } = deployment({
    deps: {
      createHelper: async () => ({
        url: 'https://helper.example',
        receive: async () => [signed(alert)],
        hold: () => Promise.reject(new Error('A call of 290 s ended after 60 s')),
      }),
    },
  });
  const report = await run();
  expect(failed(report.steps)).toEqual(['burst']);
  expect(report.steps.find(({ step }) => step === 'evidence')?.ok).toBe(true);
  expect(toExitCode(report)).toBe(1);
});

test('an interruption ends the test and removes all that exists', async () => {
  const interrupted = new AbortController();
  const { done, run } = deployment({
    client: {
      startMonitor: async () => {
        interrupted.abort(new Error('Interrupted by SIGINT'));
        return { job_id: 'job_1' };
      },
    },
    deps: {},
  });
  const report = await run({ holdSeconds: 0 }, interrupted.signal);
  expect(report.ok).toBe(false);
  expect(done.slice(-3)).toEqual(['cancel', 'remove smoke-1', 'remove helper']);
});

test('a passed test that leaves something behind names it and has exit code 3', async () => {
  const { done, run } = deployment({ deps: { removeCaller: () => Promise.reject(new Error('denied')) } });
  const report = await run();
  expect(report.left).toEqual(['caller smoke-1']);
  expect(done.at(-1)).toBe('remove helper');
  expect(toExitCode(report)).toBe(3);
});
