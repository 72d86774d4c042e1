import { expect, test } from 'vitest';
import { play } from '../../../cli/replay/play.ts';
import { createReplayWatch, readReplayRequest } from '../../../cli/replay/replay-watch.ts';

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
      },
      vision: {
        provider: 'scripted',
        model: 'scripted',
        supportsVideo: true,
        judge: async (_media, _condition, signal) => {
          calls += 1;
          if (calls === 3) interrupt.abort();
          signal.throwIfAborted();
          return { triggered: false, explanation: 'no dog', tokens: { input_tokens: 0, output_tokens: 0 } };
        },
        answer: async () => Promise.reject(new Error('not asked')),
        summarize: async () => Promise.reject(new Error('not asked')),
      },
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
