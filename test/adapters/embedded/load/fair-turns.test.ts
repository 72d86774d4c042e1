import { describe, expect, test } from 'vitest';
import { createFairTurns } from '../../../../adapters/embedded/load/fair-turns.ts';
import { limitCaptures } from '../../../../adapters/embedded/load/limit-captures.ts';
import { behindChecks } from '../../../../core/ports/callers.ts';
import { MachineBusyError } from '../../../../core/errors.ts';
import type { ScanningCapturer } from '../../../../core/ports/stream-capturer.ts';

function openTurns(limits: { max: number; maxPerCaller?: number; reserved?: number; maxWaiting?: number }) {
  const time = { nowMs: 0 };
  const timers = new Set<() => void>();
  const turns = createFairTurns({
    maxWaitMs: 20_000,
    elapsedMs: () => time.nowMs,
    setTimer: (fire) => {
      timers.add(fire);
      return () => timers.delete(fire);
    },
    ...limits,
  });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const take = async (name: string) => {
    const turn = await turns.take(name.split(' ')[0] ?? '');
    if (turn) ends.push(() => turn.end());
    begun.push(turn ? name : `${name} had no turn`);
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    begun,
    take,
    settled,
    endOldest: async () => {
      ends.shift()?.();
      await settled();
    },
    runOut: () => [...timers].forEach((fire) => fire()),
    time,
    timers,
    turns,
  };
}

describe('Turns', () => {
  test('the first request of a caller is next, regardless of how many requests of another caller wait', async () => {
    const { begun, take, settled, endOldest } = openTurns({ max: 2 });
    for (let call = 0; call < 500; call += 1) void take(`loud ${call}`);
    void take('quiet 0');
    void take('quiet 1');
    await settled();
    expect(begun).toEqual(['loud 0', 'loud 1']);

    for (let ended = 0; ended < 4; ended += 1) await endOldest();

    expect(begun.slice(2)).toEqual(['loud 2', 'quiet 0', 'loud 3', 'quiet 1']);
  });

  test('a caller whose streams hang leaves turns to others', async () => {
    const { begun, take, settled } = openTurns({ max: 4, maxPerCaller: 2 });
    for (let call = 0; call < 10; call += 1) void take(`loud ${call}`);
    void take('quiet 0');
    await settled();
    expect(begun).toEqual(['loud 0', 'loud 1', 'quiet 0']);
  });

  test('a caller that has no turn waits for none of a caller that has all', async () => {
    const { begun, take, settled } = openTurns({ max: 2, reserved: 1 });
    for (let call = 0; call < 10; call += 1) void take(`loud ${call}`);
    for (const call of [0, 1]) void take(`quiet ${call}`);
    await settled();
    expect(begun).toEqual(['loud 0', 'loud 1', 'quiet 0']);
  });

  test('work behind checks has none of the turns that are kept for callers without one', async () => {
    const turns = createFairTurns({
      max: 1,
      reserved: 1,
      elapsedMs: () => 0,
      setTimer: () => () => undefined,
    });
    const granted: string[] = [];
    for (const caller of ['ada', behindChecks('bob'), 'cleo'])
      void turns.take(caller).then(() => granted.push(caller));
    await new Promise((resolve) => setImmediate(resolve));
    expect(granted).toEqual(['ada', 'cleo']);
  });

  test('the next turn is of the caller that used the least time of late, not of the one with fewer turns', async () => {
    const { begun, take, settled, endOldest, time } = openTurns({ max: 1 });
    for (let call = 0; call < 3; call += 1) void take(`slow ${call}`);
    for (let call = 0; call < 3; call += 1) void take(`quick ${call}`);
    for (const spentMs of [5_000, 20, 20, 20]) {
      await settled();
      time.nowMs += spentMs;
      await endOldest();
    }
    expect(begun).toEqual(['slow 0', 'quick 0', 'quick 1', 'quick 2', 'slow 1']);
  });

  test('use is forgotten, so that a caller is not behind for ever', async () => {
    const { begun, take, settled, endOldest, time } = openTurns({ max: 1 });
    void take('early 0');
    await settled();
    time.nowMs += 5_000;
    await endOldest();
    time.nowMs += 300_000;
    void take('late 0');
    await settled();
    time.nowMs += 100;
    for (const name of ['late 1', 'early 1']) void take(name);
    await endOldest();
    expect(begun).toEqual(['early 0', 'late 0', 'early 1']);
  });

  test('an aborted request leaves without a turn', async () => {
    const { turns, take, begun, endOldest, settled, timers } = openTurns({ max: 1 });
    void take('first 0');
    const leaving = new AbortController();
    const left = turns.take('second', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(timers.size).toBe(0);
    void take('third 0');
    await endOldest();
    await settled();
    expect(begun).toEqual(['first 0', 'third 0']);
  });

  test('if too many wait, the newest request of the caller with the most gets no turn', async () => {
    const { begun, take, settled } = openTurns({ max: 1, maxWaiting: 3 });
    for (let call = 0; call < 5; call += 1) void take(`loud ${call}`);
    void take('quiet 0');
    await settled();
    expect(begun).toEqual(['loud 0', 'loud 4 had no turn', 'loud 3 had no turn']);
  });

  test('a request that waits too long gets no turn, not even later', async () => {
    const { begun, take, settled, endOldest, runOut } = openTurns({ max: 1 });
    void take('first 0');
    void take('second 0');
    runOut();
    await settled();
    expect(begun).toEqual(['first 0', 'second 0 had no turn']);
    void take('third 0');
    await endOldest();
    expect(begun).toEqual(['first 0', 'second 0 had no turn', 'third 0']);
  });

  test('ending a turn twice releases one turn', async () => {
    const { turns, take, begun, settled, timers } = openTurns({ max: 1 });
    const turn = await turns.take('first');
    turn?.end();
    turn?.end();
    for (const call of [0, 1]) void take(`second ${call}`);
    await settled();
    expect(begun).toEqual(['second 0']);
    expect(timers.size).toBe(1);
  });
});

describe('Captures of ticks', () => {
  const request = {
    url: 'https://example.com/live.m3u8',
    mode: 'frames',
    clipSeconds: 1,
    caller: 'ada',
    resolveAgain: false,
  } as const;
  const failing: ScanningCapturer = {
    probe: () => Promise.reject(new Error('probed')),
    capture: () => Promise.reject(new Error('captured')),
    picture: async () => null,
  };

  test('a capture without a turn says that the machine is busy, and a failed capture releases its turn', async () => {
    const { turns, runOut, settled } = openTurns({ max: 1 });
    const { capture } = limitCaptures(failing, { turns, elapsedMs: () => 0, report: () => undefined });
    const { signal } = new AbortController();
    await expect(capture(request, signal)).rejects.toThrow('captured');
    await expect(capture(request, signal)).rejects.toThrow('captured');

    await turns.take('hanging');
    const refused = expect(capture(request, signal)).rejects.toThrow(MachineBusyError);
    await settled();
    runOut();
    await refused;
  });
});
