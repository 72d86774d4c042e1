import { expect, test } from 'vitest';
import type { JoinClip } from '../../adapters/media/clips/join-clip.ts';
import { computeKeepSeconds, createKeptStreams } from '../../adapters/media/clips/kept-stream.ts';
import { createClipReader } from '../../adapters/media/hls/clip-hls.ts';
import type { MediaPlaylist } from '../../adapters/media/hls/playlist/playlist.ts';
import { writeTransportStream } from '../../adapters/media/mpeg-ts/write-transport-stream.ts';
import { clipRtsp, nameStream, toGroupPart } from '../../adapters/media/rtsp/clip-rtsp.ts';
import type { ClipRequest, ClipResult } from '../../core/records/clip.ts';
import { findClipBegin } from '../../core/policies/watch/clip-begin.ts';
import { toSource } from '../../core/watch/create-watch.ts';
import { start } from '../contract/records.ts';
import { newWatch, newWatchConfig } from '../support/watches/watch-records.ts';
import { makeFilm, watchFilm } from './film.ts';

/** Films whose visits are known, each with another phase of the checks, watched and read in virtual time. */

const groupMs = 2000;
const windowMs = 30_000;
const intervalSeconds = 10;
const [beforeSeconds, longestAfterSeconds] = [8, 30];
const never = new AbortController().signal;
const keyFrame = Buffer.from([0, 0, 0, 1, 0x65, 0x88, 0x80]);
const segment = writeTransportStream('H264', [{ bytes: keyFrame, isKeyFrame: true, pts: 90_000 }]);
const join: JoinClip = async () => ({ bytes: 1, codec: 'avc1' });
const toMs = (at: Date) => at.getTime() - start.getTime();
const toDate = (ms: number) => new Date(start.getTime() + ms);

type Clock = { ms: number };
type ReadClip = (request: ClipRequest, signal: AbortSignal) => Promise<ClipResult>;

/** Lists the segments of the last 30 s. Of scans, nothing is kept. */
function openHls(clock: Clock): ReadClip {
  const now = () => toDate(clock.ms);
  const kept = createKeptStreams({ maxBytes: 1e8, now });
  const list = (): MediaPlaylist => {
    const end = Math.floor(clock.ms / groupMs);
    const listed = windowMs / groupMs;
    return {
      kind: 'media',
      url: 'https://camera.test/live.m3u8',
      targetSeconds: groupMs / 1000,
      endList: false,
      playlistType: null,
      segments: Array.from({ length: listed }, (_, index) => ({
        url: `https://camera.test/${end - listed + index}.ts`,
        sequence: BigInt(end - listed + index + 1000),
        byteRange: null,
        initialization: null,
        key: null,
        durationSeconds: groupMs / 1000,
        startsAt: toDate((end - listed + index) * groupMs),
        discontinuity: false,
        gap: false,
      })),
    };
  };
  const http = { request: async () => ({ status: 200, body: segment }) } as never;
  const fetcher = { http, captureBytes: 1e7, requestTimeoutMs: 1000 };
  const stream = { key: 'live', fetchPlaylist: async () => list(), fetcher };
  return createClipReader({ kept, join }, now, () => stream);
}

/** Keeps each group of pictures as it ends, as a session does. */
function openRtsp(clock: Clock): ReadClip {
  const now = () => toDate(clock.ms);
  const kept = createKeptStreams({ maxBytes: 1e8, now });
  const config = newWatchConfig({
    interval_seconds: intervalSeconds,
    evidence_clip: { before_seconds: beforeSeconds, after_seconds: longestAfterSeconds },
  });
  const keepSeconds = computeKeepSeconds(toSource(newWatch(), 'a', config).clip_seconds ?? 0);
  let number = 0;
  return async (request, signal) => {
    const { ms } = clock;
    for (; (number + 1) * groupMs <= ms; number += 1) {
      clock.ms = (number + 1) * groupMs;
      const unit = { bytes: keyFrame, isKeyFrame: true, timestamp: 0, arrivedMs: number * groupMs };
      const group = { units: [unit], sessionId: 's', number, endedMs: clock.ms, keepSeconds };
      const part = toGroupPart(group, { codec: 'H264', clockRate: 90_000 }, (at) => start.getTime() + at);
      kept.add(request.caller, nameStream(request.url), part);
    }
    clock.ms = ms;
    return clipRtsp({ kept, join, now }, request, signal);
  };
}

/** Asks for the clip of an alert from its opening tick on, until the clip is made. Times in milliseconds. */
async function readUntilMade(
  open: (clock: Clock) => ReadClip,
  { openedAt, seenFrom, toldAt }: { openedAt: number; seenFrom: number; toldAt: number },
  afterSeconds: number,
): Promise<{ from: number; to: number }> {
  const clock = { ms: toldAt };
  const read = open(clock);
  const times = { opened_at: toDate(openedAt).toISOString(), seen_from: toDate(seenFrom).toISOString() };
  const from = findClipBegin(times, beforeSeconds);
  const span = { from, to: toDate(openedAt + 1000 * afterSeconds), openedAt: toDate(openedAt) };
  const common = { url: 'a', caller: 'ada', mode: 'frames', regions: null } as const;
  const request = { ...common, ...span, store: async () => undefined };
  let result = await read(request, never);
  for (; result.kind === 'pending'; result = await read(request, never))
    clock.ms += 1000 * result.afterSeconds;
  if (result.kind !== 'clip') throw new Error('It has no clip');
  return { from: toMs(result.from), to: toMs(result.to) };
}

test.each([
  ['HLS of 2 s with a window of 30 s', { keyFrameMs: groupMs, segmentMs: groupMs }, openHls],
  ['RTSP', { keyFrameMs: groupMs, segmentMs: 0 }, openRtsp],
])('the first picture of each clip is before the visit in 20 of 20 films (%s)', async (_name, kind, open) => {
  const begins: string[] = [];
  for (let phase = 0; phase < 20; phase += 1) {
    const film = makeFilm(phase, 1);
    const [alert] = await watchFilm(film, { kind, intervalSeconds, phase: phase / 20 });
    const made = await readUntilMade(open, alert!, 8);
    begins.push(made.from < film[0]!.from ? 'before' : `${made.from} in film ${phase}`);
    expect(made.to).toBeGreaterThanOrEqual(alert!.openedAt + 7750);
  }
  expect(begins).toEqual(Array.from({ length: 20 }, () => 'before'));
});

test('a clip of a session shows the begin of the longest visit and the longest time after the opening', async () => {
  const openedAt = 101_000;
  const alert = { openedAt, seenFrom: openedAt - 28_000, toldAt: openedAt + 1000 * intervalSeconds };
  const made = await readUntilMade(openRtsp, alert, longestAfterSeconds);
  expect(made.from).toBeLessThan(alert.seenFrom);
  expect(made.to).toBeGreaterThanOrEqual(openedAt + 29_750);
});
