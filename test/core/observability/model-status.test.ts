import { expect, test } from 'vitest';
import { createModelStatus } from '../../../core/observability/model-status.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { createCollectedLog } from '../../adapters/embedded/log/collected-log.ts';
import { createFakeTime } from '../../adapters/embedded/fake-time.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';
import { alwaysLoaded } from '../../../core/ports/vision-model.ts';

const tokens = { input_tokens: 1, output_tokens: 1 };
const { signal } = new AbortController();
const unreachable = new VisionError('Check that it is running.', {
  cause: new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
});

function watched(
  verdict: () => Promise<boolean>,
  prepare?: () => Promise<void>,
  loading?: () => string | undefined,
) {
  const time = createFakeTime();
  const log = createCollectedLog();
  let tests = 0;
  const vision = scriptedModel({
    provider: 'openai',
    model: 'llava',
    lifecycle: { ...alwaysLoaded, ...(prepare && { prepare }), ...(loading && { loading }) },
    judge: judgingEach(async () => {
      tests += 1;
      return { triggered: await verdict(), explanation: 'There.', tokens };
    }),
    answer: () => Promise.reject(unreachable),
  });
  const status = createModelStatus({
    vision,
    steadyNow: time.now,
    timeoutSeconds: 90,
    log,
    setTimer: time.setTimer,
  });
  return { status, time, log, tests: () => tests };
}

test('a model that answers the test picture is tested once, and the log has the result', async () => {
  const { status, time, log, tests } = watched(async () => true);
  expect(status.read().status).toBe('pending');

  expect(await status.start()).toMatchObject({ status: 'ok', message: expect.stringContaining('llava') });
  await time.pass(3600);

  expect(status.read()).toMatchObject({ check: 'model', status: 'ok', next: null });
  expect(tests()).toBe(1);
  expect(log.entries).toHaveLength(1);
});

test('a model that does not answer fails with the remedy and its cause, and is tested each minute until it answers', async () => {
  let isUp = false;
  const { status, time, log, tests } = watched(async () => {
    if (!isUp) throw unreachable;
    return true;
  });

  await status.start();
  expect(status.read()).toMatchObject({
    status: 'failed',
    next: 'Check that it is running.',
    detail: 'connect ECONNREFUSED',
  });
  await time.pass(180);
  expect(tests()).toBe(4);
  isUp = true;
  await time.pass(600);

  expect(status.read().status).toBe('ok');
  expect(tests()).toBe(5);
  expect(log.entries.map(({ level }) => level)).toEqual(['warning', 'info']);
});

test('a model that says that a red picture is not red is a warning', async () => {
  const { status } = watched(async () => false);
  expect(await status.start()).toMatchObject({
    status: 'warning',
    next: expect.stringContaining('WATCHPOST_VISION_MODEL'),
  });
});

test('a failed call leads to one test within a minute, which decides', async () => {
  let isUp = true;
  const { status, time, tests } = watched(async () => {
    if (!isUp) throw unreachable;
    return true;
  });
  await status.start();
  isUp = false;

  for (let call = 0; call < 5; call += 1)
    await expect(status.vision.answer(new Uint8Array(), 'A ship?', signal)).rejects.toBe(unreachable);
  expect(status.read().status).toBe('ok');
  await time.pass(60);

  expect(status.read().status).toBe('failed');
  expect(tests()).toBe(2);
});

test('a closed status starts no further test', async () => {
  const { status, time, tests } = watched(() => Promise.reject(unreachable));
  await status.start();
  status.close();
  await time.pass(600);
  expect(tests()).toBe(1);
});

test('a model that cannot load what it needs fails, even if it answers the test picture', async () => {
  const { status } = watched(
    async () => true,
    () => Promise.reject(new VisionError('Run npm ci.')),
  );
  await status.start();
  expect(status.read()).toMatchObject({ status: 'failed', next: 'Run npm ci.' });
});

test('a model that is still loading is pending with its progress, not failed, and is tested again', async () => {
  let progress: string | undefined = 'loading 2.3 GB for 12 s';
  const prepare = async () => {
    if (progress !== undefined) throw unreachable;
  };
  const { status, time } = watched(
    async () => true,
    prepare,
    () => progress,
  );
  expect(await status.start()).toMatchObject({
    status: 'pending',
    message: 'openai: loading 2.3 GB for 12 s',
  });
  progress = 'loading 2.3 GB for 40 s';
  expect(status.read().message).toContain('40 s');
  progress = undefined;
  await time.pass(60);
  expect(status.read()).toMatchObject({ status: 'ok' });
});
