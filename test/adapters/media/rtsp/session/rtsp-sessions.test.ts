import { describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../../../../adapters/egress/guard.ts';
import { RtspConnectionError } from '../../../../../adapters/media/rtsp/protocol/errors.ts';
import type { ReadUnits } from '../../../../../adapters/media/rtsp/session/kept-session.ts';
import type { OpenSession } from '../../../../../adapters/media/rtsp/session/open-sessions.ts';
import { createRtspSessions } from '../../../../../adapters/media/rtsp/session/rtsp-sessions.ts';
import { StreamFetchError } from '../../../../../core/errors.ts';
import { waitUntilAborted } from '../../../../../core/time-limit.ts';
import { startScriptedServer } from '../../../../support/rtsp/scripted-server.ts';

const url = 'rtsp://user:password@camera.example/live';
const stream = { url, caller: 'ada' };
const found: ReadUnits = { units: [], kind: 'key frame', ageMs: 7 };

/** Sessions with a camera that counts its own, on a clock that the test moves. */
function openSessions({ maxKept = 10, refuses = false, isReadable = true } = {}) {
  let nowMs = 0;
  let [opened, current, most] = [0, 0, 0];
  const timers = new Set<{ atMs: number; fire: () => void }>();
  const camera = {
    isSilent: false,
    isDamaged: false,
    wasDamaged: false,
    hasKeyFrames: true,
    breaks: false,
    opening: Promise.resolve(),
  };
  const ends: (() => void)[] = [];
  const fallbacks: string[] = [];
  const open: OpenSession = async (_url, signal) => {
    opened += 1;
    await waitUntilAborted(camera.opening, signal);
    if (refuses) throw new StreamFetchError('The server has reached its maximum number of viewers.');
    if (!isReadable) return null;
    current += 1;
    most = Math.max(most, current);
    let hasEnded = false;
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    const end = (): void => {
      if (!hasEnded) current -= 1;
      hasEnded = true;
      ended.reject(new RtspConnectionError('RTSP server closed the connection'));
    };
    ends.push(end);
    return {
      track: { codec: 'H264', clockRate: 90_000 },
      session: {
        read: async (_request, reading) => {
          if (hasEnded) throw new RtspConnectionError('RTSP server closed the connection');
          if (camera.hasKeyFrames && !camera.isSilent) return found;
          return waitUntilAborted(ended.promise, reading);
        },
        measureKeyFrames: async (measuring) => waitUntilAborted(ended.promise, measuring),
        follow: async (_onKeyFrame, following) => waitUntilAborted(ended.promise, following),
        keyFrameSeconds: () => 12,
        isDamaged: (isLong = false) => camera.isDamaged || (isLong && camera.wasDamaged),
        silentMs: () => (camera.isSilent ? 5_001 : 10),
        hasEnded: () => hasEnded,
        close: async () => {
          await Promise.resolve();
          end();
        },
      },
    };
  };
  const sessions = createRtspSessions({
    guard: createEgressGuard({ allowRanges: [] }),
    elapsedMs: () => nowMs,
    setTimer: (fire, delayMs) => {
      const timer = { atMs: nowMs + delayMs, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    maxKept,
    open,
    reportFallback: (_url, reason) => void fallbacks.push(reason),
  });
  const controller = new AbortController();
  return {
    sessions,
    camera,
    fallbacks,
    controller,
    counts: () => ({ opened, current, most }),
    endAll: () => ends.splice(0).forEach((end) => end()),
    read: (mode: 'frames' | 'clip' = 'frames', of = url) =>
      sessions.read({ url: of, mode, clipSeconds: 3, caller: 'ada', resolveAgain: false }, controller.signal),
    /** Reads for a capture that looks back. */
    scan: () => {
      const request = { url, mode: 'frames' as const, clipSeconds: 3, caller: 'ada', resolveAgain: false };
      return sessions.read({ ...request, lookBack: { since: null } }, controller.signal);
    },
    pass: async (seconds: number) => {
      nowMs += seconds * 1000;
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue;
        timers.delete(timer);
        timer.fire();
      }
      await settle();
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('probes of a camera that accepts one connection', () => {
  function openProbes() {
    const opened = openSessions();
    const connection = Promise.withResolvers<void>();
    let connections = 0;
    const connect = async (): Promise<void> => {
      connections += 1;
      await connection.promise;
    };
    const probe = (signal = opened.controller.signal) => opened.sessions.probe(stream, connect, signal);
    return { ...opened, probe, connection, connections: () => connections };
  }

  test('share a connection, which the session does not open beside', async () => {
    const { probe, read, counts, connection, connections } = openProbes();
    const aborted = new AbortController();
    const probed = [probe(), probe(aborted.signal), probe()];
    const failure = expect(probed[1]).rejects.toThrow('This operation was aborted');
    const reading = read();
    aborted.abort();
    await failure;
    expect(connections()).toBe(1);
    expect(counts().opened).toBe(0);
    connection.resolve();
    await Promise.all([...probed.filter((_, index) => index !== 1), reading]);
    expect(counts().opened).toBe(1);
    await probe();
    expect(connections()).toBe(1);
  });

  test('wait for a session that opens', async () => {
    const { probe, read, camera, connections } = openProbes();
    const opening = Promise.withResolvers<void>();
    camera.opening = opening.promise;
    const reading = read();
    const probed = probe();
    opening.resolve();
    await Promise.all([reading, probed]);
    expect(connections()).toBe(0);
  });

  test('name the cause themselves if no session opens', async () => {
    const { sessions, read, controller } = openSessions({ refuses: true });
    const reading = read();
    const connect = async (): Promise<void> => Promise.reject(new StreamFetchError('Wrong password.'));
    const probed = sessions.probe(stream, connect, controller.signal);
    await expect(reading).rejects.toThrow();
    await expect(probed).rejects.toMatchObject({ remediation: 'Wrong password.' });
  });
});

describe('sessions of a stream', () => {
  test('captures within 32 s use one session', async () => {
    const { read, pass, counts } = openSessions();
    for (let check = 0; check < 10; check += 1) {
      expect(await read(check % 2 === 0 ? 'frames' : 'clip')).toMatchObject({ ageMs: 7, codec: 'H264' });
      await pass(30);
    }
    expect(counts()).toEqual({ opened: 1, current: 1, most: 1 });
  });

  test('concurrent captures of all modes wait for the same session', async () => {
    const { read, camera, counts } = openSessions();
    const ready = Promise.withResolvers<void>();
    camera.opening = ready.promise;
    const captures = Array.from({ length: 10 }, (_, index) => read(index % 2 === 0 ? 'frames' : 'clip'));
    await settle();
    ready.resolve();
    expect((await Promise.all(captures)).filter((capture) => capture !== null)).toHaveLength(10);
    expect(counts()).toEqual({ opened: 1, current: 1, most: 1 });
  });

  test('an idle session closes after 35 s', async () => {
    const { read, pass, counts } = openSessions();
    await read();
    await pass(34);
    expect(counts().current).toBe(1);
    await pass(1);
    expect(counts().current).toBe(0);
  });

  test('a session of rare captures closes with each of them', async () => {
    const { read, pass, counts } = openSessions();
    await read();
    await pass(60);
    await read();
    await settle();
    expect(counts().current).toBe(0);
    await pass(10);
    await read();
    await settle();
    expect(counts()).toEqual({ opened: 3, current: 1, most: 1 });
  });

  test('captures that look back each minute use one session, whatever captures are between them', async () => {
    const { read, scan, pass, counts } = openSessions();
    for (const seconds of [60, 60, 68, 60]) {
      await scan();
      await pass(seconds);
    }
    await scan();
    await pass(40);
    await read();
    await pass(20);
    await scan();
    expect(counts()).toEqual({ opened: 1, current: 1, most: 1 });
    await pass(73);
    expect(counts().current).toBe(0);
  });

  test('a session of captures that look back every five minutes closes with each of them but the first', async () => {
    const { scan, pass, counts } = openSessions();
    await scan();
    await pass(72);
    expect(counts().current).toBe(1);
    await pass(228);
    await scan();
    await settle();
    expect(counts()).toEqual({ opened: 2, current: 0, most: 1 });
  });

  test('a session beyond the maximum closes with its capture', async () => {
    const { read, counts } = openSessions({ maxKept: 1 });
    await read();
    await read('frames', `${url}2`);
    await settle();
    expect(counts()).toMatchObject({ opened: 2, current: 1 });
  });

  test('another session begins only when the one before is closed', async () => {
    const { read, camera, counts } = openSessions();
    await read();
    camera.isSilent = true;
    const next = read();
    camera.isSilent = false;
    expect(await next).not.toBeNull();
    expect(counts()).toEqual({ opened: 2, current: 1, most: 1 });
  });

  test('a session that the server ended is replaced in the next capture', async () => {
    const { read, counts, endAll } = openSessions();
    await read();
    endAll();
    expect(await read()).not.toBeNull();
    expect(counts()).toEqual({ opened: 2, current: 1, most: 1 });
  });

  test('shutdown closes all sessions, also one that is opening, and later captures open none', async () => {
    const { read, camera, counts, sessions } = openSessions();
    await read();
    camera.opening = new Promise(() => undefined);
    const opening = read('frames', `${url}2`);
    opening.catch(() => undefined);
    await settle();
    await sessions.close();
    await expect(opening).rejects.toThrow(StreamFetchError);
    expect(await read()).toBeNull();
    expect(counts()).toMatchObject({ opened: 2, current: 0 });
  });
});

describe('streams without a usable session', () => {
  test('a stream of another codec opens a connection per capture', async () => {
    const { read, pass, counts, fallbacks } = openSessions({ isReadable: false });
    expect([await read(), await read()]).toEqual([null, null]);
    expect(fallbacks).toEqual([]);
    expect(counts().opened).toBe(1);
    await pass(3600);
    await read();
    expect(counts().opened).toBe(2);
  });

  test('a stream without key frames opens a connection per capture after 20 s', async () => {
    const { read, pass, counts, camera } = openSessions();
    camera.hasKeyFrames = false;
    const capture = read();
    await settle();
    await pass(19);
    expect(counts().current).toBe(1);
    await pass(1);
    expect(await capture).toBeNull();
    expect(counts()).toEqual({ opened: 1, current: 0, most: 1 });
    expect(await read()).toBeNull();
    expect(counts().opened).toBe(1);
  });

  test('a stream whose session cannot be used is reported once', async () => {
    const { read, pass, camera, fallbacks } = openSessions();
    [camera.hasKeyFrames, camera.wasDamaged] = [false, true];
    for (let hour = 0; hour < 3; hour += 1) {
      const capture = read();
      await settle();
      await pass(20);
      await capture;
      await pass(3600);
    }
    expect(fallbacks).toEqual(['no key frame']);
  });

  test('a stream of which packets are lost fails as damaged, and the next capture has a session', async () => {
    const { read, pass, camera, fallbacks } = openSessions();
    [camera.hasKeyFrames, camera.isDamaged] = [false, true];
    const capture = read();
    capture.catch(() => undefined);
    await settle();
    await pass(20);
    await expect(capture).rejects.toMatchObject({ code: 'STREAM_FETCH_FAILED', isDamaged: true });
    camera.hasKeyFrames = true;
    expect(await read()).not.toBeNull();
    expect(fallbacks).toEqual([]);
  });

  test('a server that sends nothing fails the capture, and ends the session', async () => {
    const { read, pass, counts, camera } = openSessions();
    // Packets were lost before.
    camera.isSilent = camera.isDamaged = true;
    const capture = read('clip');
    capture.catch(() => undefined);
    await settle();
    await pass(23);
    const failure = { message: 'Failed to capture video clip from stream', isDamaged: false };
    await expect(capture).rejects.toMatchObject(failure);
    expect(counts().current).toBe(0);
  });

  test('a refusal reaches all that wait, and is not repeated', async () => {
    const { read, counts } = openSessions({ refuses: true });
    const captures = await Promise.allSettled([read(), read('clip'), read()]);
    expect(captures.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(counts().opened).toBe(1);
  });

  test('an aborted capture ends with its reason, and leaves the session to others', async () => {
    const { read, camera, controller, counts, sessions } = openSessions();
    camera.hasKeyFrames = false;
    const capture = read();
    await settle();
    controller.abort(new Error('job was cancelled'));
    await expect(capture).rejects.toThrow('job was cancelled');
    expect(counts().current).toBe(1);
    await sessions.close();
    expect(counts().current).toBe(0);
  });
});

test('a measurement of key frames waits for at most 11 s, and for nothing without a session', async () => {
  const { sessions, read, pass, controller } = openSessions();
  const measure = (waits: boolean) => sessions.keyFrameSeconds(stream, waits, controller.signal);
  expect(await measure(true)).toBeUndefined();
  await read();
  expect(await measure(false)).toBe(12);
  let seconds: number | undefined;
  void measure(true).then((measured) => (seconds = measured));
  await pass(10);
  expect(seconds).toBeUndefined();
  await pass(1);
  expect(seconds).toBe(12);
});

test('a session is followed while it is open, and none is opened for it', async () => {
  const { sessions, read, counts, endAll } = openSessions();
  const follow = () => sessions.follow(stream, () => undefined, new AbortController().signal);
  await follow();
  expect(counts().opened).toBe(0);
  await read();
  const followed = follow().catch(() => 'ended');
  endAll();
  expect(await followed).toBe('ended');
});

test('a camera that does not finish its responses in time is a failure of the stream', async () => {
  const camera = await startScriptedServer(() => null);
  const sessions = createRtspSessions({
    guard: createEgressGuard({ allowRanges: ['127.0.0.0/8'] }),
    elapsedMs: () => 0,
    setTimer: () => () => undefined,
    maxKept: 1,
    answerTimeoutMs: 60_000,
    openTimeoutMs: 50,
  });
  const capture = {
    url: camera.url,
    caller: 'ada',
    mode: 'frames',
    clipSeconds: 0,
    resolveAgain: false,
  } as const;
  const read = sessions.read(capture, new AbortController().signal);
  await expect(read).rejects.toThrow(StreamFetchError);
  await sessions.close();
  await camera.close();
});
