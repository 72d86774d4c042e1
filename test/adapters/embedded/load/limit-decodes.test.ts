import { describe, expect, test } from 'vitest';
import {
  createDecodeTurns,
  createSpareTime,
  limitDecodes,
} from '../../../../adapters/embedded/load/limit-decodes.ts';
import { MachineBusyError } from '../../../../core/errors.ts';
import type { FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';

function openRunner(max: number) {
  const ends: (() => void)[] = [];
  const fakeDecode = async (_input: unknown, _wanted: unknown, _limits: unknown, signal: AbortSignal) => {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      ends.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    return { frame: new Uint8Array(), thumbnail: new Uint8Array() };
  };
  const ffmpeg: FfmpegRunner = { run: fakeDecode, runAll: async (...call) => [await fakeDecode(...call)] };
  let nowMs = 0;
  const timers = new Map<() => void, number>();
  const waits: number[] = [];
  const inTurn = createDecodeTurns({
    max,
    elapsedMs: () => nowMs,
    setTimer: (fire, delayMs) => {
      timers.set(fire, nowMs + delayMs);
      return () => void timers.delete(fire);
    },
    report: (waitedMs) => void waits.push(waitedMs),
  });
  const { run } = limitDecodes(ffmpeg, inTurn);
  const pass = (seconds: number): void => {
    nowMs += seconds * 1000;
    for (const [fire, atMs] of timers) if (atMs <= nowMs) fire();
  };
  const decode = (signal = new AbortController().signal) =>
    run(
      { kind: 'pipe', format: 'mpegts', chunks: [] },
      { mode: 'frames', clipSeconds: 3 },
      { timeoutMs: 1000 },
      signal,
    );
  return { ends, decode, pass, waits };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Starts three decodes with one turn: the first has it, the second can be aborted. */
async function queueThree() {
  const { ends, decode } = openRunner(1);
  const abort = new AbortController();
  const first = decode();
  await settled();
  const aborted = decode(abort.signal).catch(() => 'aborted');
  const third = decode();
  await settled();
  return { ends, abort, first, aborted, third };
}

test('decodes beyond the limit wait for the end of an earlier one', async () => {
  const { ends, decode } = openRunner(1);
  const all = [decode(), decode()];
  await settled();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await Promise.all(all);
});

test.each([0, 1, 2, 3, 4, 5])(
  'a turn that ends %i steps before a waiting decode is aborted goes to the next one',
  async (steps) => {
    const { ends, abort, first, aborted, third } = await queueThree();
    ends[0]?.();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    abort.abort(new Error('aborted'));
    await first;
    expect(await aborted).toBe('aborted');
    await settled();
    expect(ends.length).toBeGreaterThanOrEqual(2);
    for (const end of ends) end();
    await third;
  },
);

test.each([0, 1, 2, 3, 4, 5])(
  'a waiting decode that is aborted %i steps before a turn ends takes none',
  async (steps) => {
    const { ends, abort, first, aborted, third } = await queueThree();
    abort.abort(new Error('aborted'));
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    ends[0]?.();
    await first;
    expect(await aborted).toBe('aborted');
    await settled();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await third;
  },
);

test('a decode without a turn in time costs one check, is no failure of the stream, and its wait counts', async () => {
  const { ends, decode, pass, waits } = openRunner(1);
  const first = decode();
  await settled();
  const second = decode().catch((error: unknown) => error);
  await settled();
  pass(19);
  const third = decode();
  await settled();
  pass(1);
  expect(await second).toBeInstanceOf(MachineBusyError);
  expect(waits).toEqual([0, 20_000]);
  ends[0]?.();
  await first;
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await third;
  expect(waits).toEqual([0, 20_000, 1000]);
});

describe('groups of pictures', () => {
  function openSpare({ lateSeconds = 0, cores = 2 } = {}) {
    const timers: { fire: () => void; afterMs: number }[] = [];
    const spare = createSpareTime({
      cores,
      lateSeconds: () => lateSeconds,
      elapsedMs: () => 0,
      setTimer: (fire, afterMs) => {
        timers.push({ fire, afterMs });
        return () => undefined;
      },
    });
    let begun = 0;
    const end = Promise.withResolvers<void>();
    const ffmpeg: FfmpegRunner = {
      run: () => Promise.reject(new Error('not needed')),
      runAll: () => Promise.reject(new Error('not needed')),
      runEachSecond: async () => {
        begun += 1;
        return end.promise.then(() => []);
      },
    };
    const noTurn = () => Promise.reject(new Error('groups take no turn of captures'));
    const { runEachSecond } = limitDecodes(ffmpeg, noTurn, spare);
    const input = { kind: 'pipe', format: 'mpegts', chunks: [] as Uint8Array[] } as const;
    const clock = { fromSeconds: 0, isRebased: false };
    const decode = () => runEachSecond!(input, clock, { timeoutMs: 1000 }, new AbortController().signal);
    return { decode, end: () => end.resolve(), timers, begun: () => begun };
  }

  test('groups are decoded one at a time on two cores, and not at all once they have waited for 2 s', async () => {
    const { decode, end, timers } = openSpare();
    const [first, second] = [decode(), decode()];
    await settled();
    expect(timers).toMatchObject([{ afterMs: 2_000 }]);
    timers[0]?.fire();
    end();
    expect(await first).toEqual([]);
    expect(await second).toBeNull();
  });

  test('groups are decoded on half of the cores', async () => {
    const { decode, end, begun } = openSpare({ cores: 9 });
    const decodes = Array.from({ length: 6 }, decode);
    await settled();
    expect(begun()).toBe(4);
    end();
    await Promise.all(decodes);
  });

  test('groups are not decoded while checks wait for half a second', async () => {
    const idle = openSpare({ lateSeconds: 0.49 });
    idle.end();
    expect(await idle.decode()).toEqual([]);
    expect(await openSpare({ lateSeconds: 0.5 }).decode()).toBeNull();
  });

  test('time in which no check needs the machine is no use of a caller', async () => {
    const uses: unknown[] = [];
    const deps = {
      cores: 2,
      lateSeconds: () => 0,
      elapsedMs: () => 0,
      setTimer: () => () => undefined,
      reportUse: (...use: unknown[]) => void uses.push(use),
    };
    await createSpareTime(deps).inTurn(async () => [], new AbortController().signal);
    expect(uses).toEqual([]);
  });

  test('a host without spare time decodes no group', () => {
    const run = () => Promise.reject(new Error('not needed'));
    const ffmpeg = { run, runAll: run, runEachSecond: async () => [] };
    expect(limitDecodes(ffmpeg, (work) => work()).runEachSecond).toBeUndefined();
  });
});
