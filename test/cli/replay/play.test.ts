import { expect, test } from 'vitest';
import { createScannedFrame, framePictures } from '../../../adapters/media/scan/frame-pictures.ts';
import { play } from '../../../cli/replay/play.ts';
import { createReplayWatch, readReplayRequest } from '../../../cli/replay/replay-watch.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';

test('an interrupt during a model call keeps the checks before it', async () => {
  const clock = { now: new Date('2026-11-20T14:00:00Z') };
  const rules = { watchFile: undefined, conditionsFile: undefined, conditions: ['A dog is there'] };
  const settings = { interval: 5, mode: undefined, clipSeconds: undefined, prefilter: false };
  const watch = createReplayWatch(await readReplayRequest(rules), settings, clock.now);
  const interrupt = new AbortController();
  const moved = { moved: true, changedShare: 1, black: false, identicalToPrevious: false };
  let calls = 0;
  const played = await play(
    watch,
    {
      streams: {
        probe: async (url) => ({ platform: 'hls', playbackUrl: url }),
        capture: async () => ({
          frame: new Uint8Array([1]),
          thumbnail: new Uint8Array([1]),
          capturedAt: clock.now,
          position: { segment: clock.now.toISOString(), segment_seconds: 1 },
        }),
        ...framePictures,
      },
      vision: scriptedModel({
        provider: 'scripted',
        model: 'scripted',
        capabilities: { supportsVideo: true },
        judge: judgingEach(async (_media, _condition, signal) => {
          calls += 1;
          if (calls === 3) interrupt.abort();
          signal.throwIfAborted();
          return { triggered: false, explanation: 'no dog', tokens: { input_tokens: 0, output_tokens: 0 } };
        }),
        answer: async () => Promise.reject(new Error('not asked')),
        summarize: async () => Promise.reject(new Error('not asked')),
      }),
      compareMotion: () => ({ ...moved, stateWithNewReference: '', stateWithSameReference: '', earlier: [] }),
      clock,
      nextRecorded: (seconds) => seconds,
      newId: () => 'id',
      limits: { captureTimeoutSeconds: 5, visionTimeoutSeconds: 5 },
      onCheck: async () => undefined,
      onProgress: () => undefined,
    },
    interrupt.signal,
  );
  expect(played.checks.map(({ seconds, triggered }) => [seconds, triggered])).toEqual([
    [0, false],
    [5, false],
  ]);
  expect(played.failures).toEqual([]);
});

test('a replay shows a visit between two checks at its time, with its picture and the shortest sure visit', async () => {
  const begin = new Date('2026-11-20T14:00:00Z');
  const clock = { now: begin };
  const rules = { watchFile: undefined, conditionsFile: undefined, conditions: ['A dog is there'] };
  const settings = { interval: 10, mode: undefined, clipSeconds: undefined, prefilter: true };
  const watch = createReplayWatch(await readReplayRequest(rules), settings, begin);
  // The dog is there from 12 to 17 s; the third byte of a frame is its time.
  const isThere = (seconds: number) => seconds >= 12 && seconds < 17;
  const secondsOf = (at: Date) => (at.getTime() - begin.getTime()) / 1000;
  const toFrame = (seconds: number) => new Uint8Array([255, 216, seconds]);
  const played = await play(
    watch,
    {
      streams: {
        probe: async (url) => ({ platform: 'hls', playbackUrl: url }),
        capture: async ({ lookBack }) => {
          const now = secondsOf(clock.now);
          const since = lookBack?.since ? Number(lookBack.since) : now;
          const times = Array.from({ length: 30 }, (_, index) => index * 2).filter(
            (at) => at > since && at < now,
          );
          return {
            frame: toFrame(now),
            thumbnail: toFrame(now),
            capturedAt: clock.now,
            position: { segment: `${now}`, segment_seconds: 1, scan: `${now}` },
            scan: {
              frames: times.map((at) =>
                createScannedFrame(begin.getTime() + at * 1000, toFrame(at), async () => toFrame(at)),
              ),
              coveredSeconds: now - since,
              leftOutSeconds: 0,
              distanceSeconds: times.length > 0 ? 2 : 0,
            },
          };
        },
        ...framePictures,
      },
      vision: scriptedModel({
        provider: 'scripted',
        model: 'scripted',
        capabilities: { supportsVideo: true },
        judge: judgingEach(async ({ frame }) => {
          const triggered = isThere(frame[2] ?? 0);
          return { triggered, explanation: `at ${frame[2]}`, tokens: { input_tokens: 1, output_tokens: 1 } };
        }),
        answer: async () => Promise.reject(new Error('not asked')),
        summarize: async () => Promise.reject(new Error('not asked')),
      }),
      compareMotion: (thumbnail, _state, _regions, earlier = []) => ({
        moved: isThere(thumbnail[2] ?? 0),
        changedShare: 0.1,
        black: false,
        identicalToPrevious: false,
        stateWithNewReference: '',
        stateWithSameReference: '',
        earlier: earlier.map(([, , seconds = 0]) => ({
          moved: isThere(seconds),
          isNews: isThere(seconds),
          likeNewest: isThere(seconds) === isThere(thumbnail[2] ?? 0),
          changedShare: 0.1,
          black: false,
        })),
      }),
      clock,
      nextRecorded: (seconds) => (seconds <= 60 ? seconds : undefined),
      newId: () => 'id',
      limits: { captureTimeoutSeconds: 5, visionTimeoutSeconds: 5 },
      onCheck: async () => undefined,
      onProgress: () => undefined,
    },
    new AbortController().signal,
  );
  expect(played.alerts).toMatchObject([{ opened_seconds: 16, explanation: 'at 16', frame: toFrame(16) }]);
  expect(played.alerts[0]?.closed_seconds).toBeLessThanOrEqual(30);
  expect(played.checks.filter(({ triggered }) => triggered).map(({ seconds }) => seconds)).toEqual([12, 16]);
  expect(played.shortestVisitSeconds).toBe(7);
});
