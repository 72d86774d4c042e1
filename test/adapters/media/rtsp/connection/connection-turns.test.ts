import { describe, expect, test } from 'vitest';
import { createConnectionTurns } from '../../../../../adapters/media/rtsp/connection/connection-turns.ts';
import { RtspStatusError } from '../../../../../adapters/media/rtsp/protocol/errors.ts';
import { StreamFetchError } from '../../../../../core/errors.ts';

const url = 'rtsp://camera.example/live';

/** A camera that refuses connections beyond its maximum. The test ends each connection. */
function startCamera({ max, status = 453 }: { max: number; status?: number }) {
  const timers: { fire: () => void; delayMs: number }[] = [];
  const turns = createConnectionTurns((fire, delayMs) => {
    timers.push({ fire, delayMs });
    return () => undefined;
  });
  const camera = { max };
  const open: PromiseWithResolvers<void>[] = [];
  const controller = new AbortController();
  let refused = 0;
  let most = 0;
  const connect = async (): Promise<string> => {
    await Promise.resolve();
    if (open.length >= camera.max) {
      refused += 1;
      throw new StreamFetchError('Full.', undefined, { cause: new RtspStatusError(status) });
    }
    const connection = Promise.withResolvers<void>();
    open.push(connection);
    most = Math.max(most, open.length);
    await connection.promise;
    return 'picture';
  };
  return {
    camera,
    /** Fires the next timer. Returns its time. */
    passTimer: async () => {
      await settle();
      const timer = timers.shift();
      timer?.fire();
      await settle();
      return timer?.delayMs;
    },
    controller,
    capture: (of = url, signal = controller.signal) => turns.run({ url: of, caller: 'ada' }, connect, signal),
    counts: () => ({ open: open.length, refused, most }),
    endOne: async () => {
      await settle();
      open.shift()?.resolve();
      await settle();
    },
  };
}

const settle = () => new Promise(setImmediate);

test.each([453, 503])('captures of a camera that answers %d to a second one take turns', async (status) => {
  const { capture, counts, endOne } = startCamera({ max: 1, status });
  const captures = [capture(), capture(), capture()];
  for (let ended = 0; ended < 3; ended += 1) await endOne();
  expect(await Promise.all(captures)).toEqual(['picture', 'picture', 'picture']);
  expect(counts()).toEqual({ open: 0, refused: 2, most: 1 });
  const later = [capture(), capture()];
  for (let ended = 0; ended < 2; ended += 1) await endOne();
  await Promise.all(later);
  expect(counts().refused).toBe(2);
});

test('captures of a camera with more connections run beside each other', async () => {
  const { capture, counts, endOne } = startCamera({ max: 3 });
  const captures = [capture(), capture(), capture()];
  await settle();
  expect(counts()).toMatchObject({ open: 3, refused: 0 });
  for (let ended = 0; ended < 3; ended += 1) await endOne();
  await Promise.all(captures);
});

test('a camera that another viewer fills is a failure immediately', async () => {
  const { capture } = startCamera({ max: 0 });
  await expect(capture()).rejects.toThrow(StreamFetchError);
});

test('another refusal is a failure immediately, and captures of other URLs do not wait', async () => {
  const { capture, endOne } = startCamera({ max: 1, status: 403 });
  const first = capture();
  await settle();
  await expect(capture()).rejects.toThrow(StreamFetchError);
  await expect(capture('rtsp://camera.example/other')).rejects.toThrow(StreamFetchError);
  await endOne();
  await first;
});

test('a capture that waits for its turn ends when it is aborted, and the next one takes it', async () => {
  const { capture, endOne } = startCamera({ max: 1 });
  const aborted = new AbortController();
  const first = capture();
  await settle();
  const second = capture(url, aborted.signal);
  await settle();
  const third = capture();
  aborted.abort(new Error('cancelled'));
  await expect(second).rejects.toThrow('cancelled');
  await endOne();
  await first;
  await endOne();
  expect(await third).toBe('picture');
});

describe('a server that is unavailable (503)', () => {
  test('a server that is unavailable is tried again after 0.5 and 2 s', async () => {
    const { camera, capture, passTimer, endOne, counts } = startCamera({ max: 0, status: 503 });
    const picture = capture();
    expect(await passTimer()).toBe(500);
    camera.max = 1;
    expect(await passTimer()).toBe(2_000);
    await endOne();
    expect(await picture).toBe('picture');
    expect(counts().refused).toBe(2);
  });

  test('a server that is unavailable is a failure after two more attempts', async () => {
    const { capture, passTimer, counts } = startCamera({ max: 0, status: 503 });
    const failure = expect(capture()).rejects.toThrow(StreamFetchError);
    await passTimer();
    await passTimer();
    await failure;
    expect(await passTimer()).toBeUndefined();
    expect(counts().refused).toBe(3);
  });

  test('an aborted capture does not wait for a server that is unavailable', async () => {
    const { capture, controller } = startCamera({ max: 0, status: 503 });
    const failure = expect(capture()).rejects.toThrow('cancelled');
    await settle();
    controller.abort(new Error('cancelled'));
    await failure;
  });
});
