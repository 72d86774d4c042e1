import { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import type { DescribedStream } from '../../../../../adapters/media/rtsp/connection/describe.ts';
import { RtspLimitError } from '../../../../../adapters/media/rtsp/protocol/errors.ts';
import { createKeyFrameMemory } from '../../../../../adapters/media/rtsp/session/key-frame-store.ts';
import { createSessionMemory } from '../../../../../adapters/media/rtsp/session/session-memory.ts';
import { openKeptSession } from '../../../../../adapters/media/rtsp/session/kept-session.ts';
import { nalRules } from '../../../../../adapters/media/rtsp/rtp/nal-units.ts';
import type { InterleavedFrame } from '../../../../../adapters/media/rtsp/protocol/reader.ts';
import { writeRtp } from '../../../../support/rtsp/rtp-packets.ts';

const smallSets = 'sprop-parameter-sets=ZwE=,aAI=';

/** A session with a camera of ten frames per second, on a clock that the test moves. */
async function openSession({
  every = 20,
  framesPerSecond = 10,
  maxBytes = 1e6,
  memory = createSessionMemory(1e9),
  parameters = smallSets,
  refreshes = false,
} = {}) {
  let nowMs = 0;
  let index = 0;
  let take: (frame: InterleavedFrame) => void = () => undefined;
  let end: (cause?: unknown) => void = () => undefined;
  let produced = 0;
  const methods: string[] = [];
  const stream = {
    client: {
      request: async (method: string) => {
        methods.push(method);
        const headers =
          method === 'SETUP'
            ? ([
                ['Transport', 'RTP/AVP/TCP;interleaved=0-1'],
                ['Session', 'abc;timeout=10'],
              ] as const)
            : [];
        return { startLine: 'RTSP/1.0 200 OK', headers, body: new Uint8Array() };
      },
      onFrame: (taker) => void (take = taker),
      onEnd: (ended) => {
        const before = end;
        end = (cause) => (before(cause), ended(cause));
      },
      limitBytes: () => undefined,
      countProduced: (bytes) => void (produced += bytes),
      socket: new Socket(),
      close: () => end(),
    },
    target: {
      url: 'rtsp://camera.example/',
      shownUrl: 'rtsp://camera.example/',
      host: 'camera.example',
      port: 554,
      isSecure: false,
      isTunnelled: false,
      credentials: null,
    },
    track: {
      codec: 'H264',
      payloadType: 96,
      clockRate: 90_000,
      parameters,
      controlUrl: 'rtsp://camera.example/1',
      sessionUrl: 'rtsp://camera.example/',
    },
    keepAliveMethod: 'OPTIONS',
  } satisfies DescribedStream;
  const rules = nalRules({ codec: 'H264', parameters })!;
  const session = await openKeptSession(stream, rules, {
    elapsedMs: () => nowMs,
    caller: 'ada',
    memory,
    keyFrames: createKeyFrameMemory(1e6),
    maxBytes,
  });
  const { signal } = new AbortController();
  return {
    session,
    measure: () => session.measureKeyFrames(signal),
    methods,
    memory,
    end: (cause?: unknown) => end(cause),
    countProduced: () => produced,
    /** Loses the packet of a frame. */
    lose: () => void (index += 1),
    /** Moves the clock, without a packet. */
    wait: (seconds: number) => void (nowMs += seconds * 1000),
    /** Sends frames for some seconds. Frame and timestamp tell its number. */
    play: (seconds: number, bytes = 2) => {
      for (let frame = 0; frame < seconds * framesPerSecond; frame += 1) {
        nowMs += 1000 / framesPerSecond;
        const payload = Buffer.alloc(bytes, 0x9a);
        payload[0] = index % every === 0 && !(refreshes && index > 0) ? 0x65 : 0x41;
        // A picture is whole 5 frames after this information.
        const refresh = [0x78, 0, 4, 0x06, 6, 1, 0x34, 0, 2, 0x41, 0xe0];
        const isRefresh = refreshes && index > 0 && index % every === 0;
        take({
          channel: 0,
          bytes: writeRtp({
            sequence: index,
            timestamp: index * (90_000 / framesPerSecond),
            payload: isRefresh ? refresh : payload,
          }),
        });
        index += 1;
      }
    },
    /** Scans since a position, and returns it with the numbers of the key frames. */
    scan: async (position: string | null) => {
      const lookBack = { since: position };
      const request = {
        url: stream.target.url,
        mode: 'frames' as const,
        clipSeconds: 3,
        caller: 'ada',
        resolveAgain: false,
      };
      const { since } = await session.read({ ...request, lookBack }, signal);
      const { units, newest, isWhole, sessionId } = since!;
      return {
        frames: units.map(({ timestamp }) => timestamp / 9000),
        isWhole,
        next: `${sessionId} ${newest} 0`,
      };
    },
    read: async (mode: 'frames' | 'clip' = 'frames', clipSeconds = 3) => {
      const { units, kind, ageMs } = await session.read(
        { url: stream.target.url, mode, clipSeconds, caller: 'ada', resolveAgain: false },
        signal,
      );
      const numbers = units.map(({ timestamp }) => timestamp / 9000);
      return { kind, ageMs, from: numbers[0], to: numbers.at(-1) };
    },
  };
}

test('a frame is the newest key frame, with its age', async () => {
  const { play, read } = await openSession();
  play(5.1);
  // Key frames are 0, 20 and 40; the newest frame is 49, because 50 may not be complete.
  expect(await read()).toEqual({ kind: 'key frame', ageMs: 1000, from: 40, to: 40 });
});

test.each([0.5, 0.25])('a camera that sends %d frames per second is captured', async (framesPerSecond) => {
  const { play, wait, read } = await openSession({ every: 1, framesPerSecond });
  play(3 / framesPerSecond);
  // The next frame is late.
  wait(0.4 / framesPerSecond);
  expect(await read()).toMatchObject({ kind: 'key frame', ageMs: 1_400 / framesPerSecond });
});

test('a frame of a longer GOP is its newest one', async () => {
  const { play, read } = await openSession({ every: 100 });
  play(5.1);
  expect(await read()).toEqual({ kind: 'newest', ageMs: 100, from: 0, to: 49 });
});

test('a later capture never has the frame of an earlier one', async () => {
  const { play, read, wait } = await openSession();
  play(2.2);
  expect(await read()).toMatchObject({ kind: 'key frame', to: 20 });
  wait(0.4);
  // Jobs on the same camera at nearly the same time.
  expect(await read()).toMatchObject({ kind: 'key frame', to: 20 });
  play(0.6);
  expect(await read()).toMatchObject({ kind: 'newest', to: 26 });
  wait(0.6);
  let answered = false;
  const waiting = read().then((found) => ((answered = true), found));
  await Promise.resolve();
  expect(answered).toBe(false);
  play(0.1);
  expect(await waiting).toMatchObject({ kind: 'newest', to: 27 });
});

test('a frame that is too old is never returned, however long nothing arrives', async () => {
  const { play, read, wait, session } = await openSession();
  play(2.2);
  wait(2.6);
  expect(session.silentMs()).toBe(2600);
  const waiting = read();
  play(1.9);
  expect(await waiting).toMatchObject({ to: expect.toSatisfy((index: number) => index > 21) });
});

test('the first clip is awaited, the next one is there', async () => {
  const { play, read } = await openSession();
  play(1);
  const waiting = read('clip');
  play(3);
  expect(await waiting).toMatchObject({ kind: 'clip', from: 0, to: 38, ageMs: 100 });
  play(10);
  expect(await read('clip')).toMatchObject({ kind: 'clip', from: 100, to: 138, ageMs: 100 });
});

test('a hole is the reason that a clip is missing, also behind the next key frame', async () => {
  const { session, play, lose, wait } = await openSession();
  const isDamaged = () => ({ frame: session.isDamaged(), clip: session.isDamaged(true) });
  play(1);
  expect(isDamaged()).toEqual({ frame: false, clip: false });
  lose();
  play(0.5);
  expect(isDamaged()).toEqual({ frame: true, clip: true });
  play(4.5);
  expect(isDamaged()).toEqual({ frame: false, clip: true });
  wait(20);
  expect(isDamaged()).toEqual({ frame: false, clip: false });
});

test('a short clip leaves the seconds of a longer one', async () => {
  const { play, read, memory } = await openSession();
  const first = read('clip', 10);
  play(12, 1000);
  expect(await first).toMatchObject({ kind: 'clip' });
  expect(await read('clip', 1)).toMatchObject({ kind: 'clip', to: 118 });
  play(5, 1000);
  expect(await read('clip', 1)).toMatchObject({ kind: 'clip', to: 168 });
  expect(await read('clip', 10)).toEqual({ kind: 'clip', from: 60, to: 168, ageMs: 100 });
  const withLongClips = memory.bytes();
  for (let round = 0; round < 9; round += 1) {
    play(5, 1000);
    await read('clip', 1);
  }
  expect(memory.bytes()).toBeLessThan(withLongClips / 2);
});

test('memory is that of the newest GOP, of a clip while clips are read, and nothing after the end', async () => {
  const { play, read, memory, wait, end } = await openSession();
  play(60, 1000);
  expect(memory.bytes()).toBeLessThan(21 * 1600);
  const clip = read('clip', 5);
  play(10, 1000);
  await clip;
  expect(memory.bytes()).toBeGreaterThan(50 * 1500);
  wait(41);
  play(5, 1000);
  expect(memory.bytes()).toBeLessThan(21 * 1600);
  end();
  expect(memory.bytes()).toBe(0);
});

test('a session that exceeds the memory of all sessions waits for its next key frame', async () => {
  const memory = createSessionMemory(15_000);
  memory.join(
    'ada',
    () => 5_000,
    () => undefined,
  )();
  const { play, read } = await openSession({ memory });
  play(0.5, 1000);
  expect(memory.bytes()).toBeLessThanOrEqual(15_000);
  const waiting = read();
  play(2, 1000);
  expect(memory.bytes()).toBeLessThanOrEqual(15_000);
  expect(await waiting).toMatchObject({ from: 0 });
});

test('a capture that waits fails when the session ends, after TEARDOWN', async () => {
  const { session, read, methods } = await openSession();
  const waiting = read();
  await session.close();
  await expect(waiting).rejects.toThrow('closed the connection');
  expect(session.hasEnded()).toBe(true);
  expect(methods).toEqual(['SETUP', 'PLAY', 'TEARDOWN']);
});

test('parameter sets that are put before key frames count for the rate of the stream', async () => {
  const large = Buffer.alloc(2000, 0x55).fill(0x67, 0, 1);
  const parameters = `sprop-parameter-sets=${large.toString('base64')},aAI=`;
  const { play, countProduced } = await openSession({ every: 1, parameters });
  play(10);
  expect(countProduced()).toBeGreaterThan(98 * 1990);
});

test('a session that the service ended for its cost says so', async () => {
  const { end, read } = await openSession();
  end(new RtspLimitError('too much'));
  await expect(read()).rejects.toBeInstanceOf(RtspLimitError);
});

test('a second key frame tells the distance of key frames; before it, they are at least as far apart as was seen', async () => {
  const { play, measure, session } = await openSession({ every: 150 });
  play(12.1);
  expect(session.keyFrameSeconds()).toBeCloseTo(11.9, 5);
  let isMeasured = false;
  const measured = measure().then(() => (isMeasured = true));
  await new Promise(setImmediate);
  expect(isMeasured).toBe(false);
  play(6);
  await measured;
  expect(session.keyFrameSeconds()).toBe(15);
});

test('a measurement of key frames ends with its session', async () => {
  const { play, measure, end } = await openSession();
  play(1);
  const measured = measure();
  end();
  await expect(measured).resolves.toBeUndefined();
});

test('a scan has the key frames since its position, in captures of frames and of longer GOPs', async () => {
  const { play, scan } = await openSession();
  play(2.2);
  const first = await scan(null);
  expect(first.frames).toEqual([20]);
  play(8);
  const second = await scan(first.next);
  expect(second).toMatchObject({ frames: [40, 60, 80, 100], isWhole: true });
  play(2);
  expect(await scan(second.next)).toMatchObject({ frames: [120], isWhole: true });
  // A position of another session is unknown here.
  expect(await scan('elsewhere 3 0')).toMatchObject({ frames: [20, 40, 60, 80, 100, 120], isWhole: false });
});

test('a session hands each key frame to those that follow it, until they leave or it ends', async () => {
  const { session, play, end } = await openSession();
  const leaving = new AbortController();
  const [one, other]: number[][] = [[], []];
  const left = session.follow(({ timestamp }) => one!.push(timestamp), leaving.signal).catch(() => 'left');
  const followed = session.follow(({ timestamp }) => other!.push(timestamp), new AbortController().signal);
  play(2.2);
  leaving.abort();
  expect(await left).toBe('left');
  play(2);
  expect(one).toEqual([0, 180_000]);
  expect(other).toEqual([0, 180_000, 360_000]);
  end();
  await followed;
});

test('a scan leaves out the time of intra refresh, which has no key frames', async () => {
  const { play, scan } = await openSession({ refreshes: true });
  play(0.2);
  const first = await scan(null);
  play(5);
  expect(await scan(first.next)).toMatchObject({ frames: [], isWhole: false });
});

test('a frame of intra refresh is the newest one after a refresh that is over', async () => {
  const { play, read } = await openSession({ refreshes: true, every: 10 });
  play(4.3);
  // The refresh of frame 40 is not over.
  expect(await read()).toEqual({ kind: 'newest', ageMs: 100, from: 30, to: 41 });
});

test('a session that its server would end after 10 s stays open for ten minutes', async () => {
  vi.useFakeTimers();
  try {
    const { session, methods, end } = await openSession();
    vi.advanceTimersByTime(600_000);
    expect(methods.filter((method) => method === 'OPTIONS')).toHaveLength(120);
    expect(session.hasEnded()).toBe(false);
    end();
    vi.advanceTimersByTime(60_000);
    expect(methods.filter((method) => method === 'OPTIONS')).toHaveLength(120);
  } finally {
    vi.useRealTimers();
  }
});
