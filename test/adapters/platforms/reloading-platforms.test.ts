import { expect, test } from 'vitest';
import { defaultPlatformSettings } from '../../../adapters/platforms/platform-settings.ts';
import type { PlatformSettings } from '../../../adapters/platforms/platform-settings.ts';
import { createReloadingPlatforms } from '../../../adapters/platforms/reloading-platforms.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { never } from './platform-world.ts';

const url = 'https://www.twitch.tv/harbour_cam';

/** Capturers that report their settings and the number of their creations. */
function trial(settings: PlatformSettings[]) {
  const made: PlatformSettings[] = [];
  let reads = 0;
  const platforms = createReloadingPlatforms(
    async () => settings[Math.min(reads++, settings.length - 1)]!,
    async (given) => {
      made.push(given);
      const number = made.length;
      const capturer: StreamCapturer = {
        probe: async () => ({ platform: 'twitch', playbackUrl: `made ${number}` }),
        capture: () => Promise.reject(new Error(`made ${number}`)),
      };
      return { youtube: capturer, twitch: capturer };
    },
  );
  return { platforms, made, reads: () => reads };
}

test('platform capturers are created at the first URL and kept while the settings are unchanged', async () => {
  const { platforms, made, reads } = trial([defaultPlatformSettings]);
  expect(reads()).toBe(0);

  const probes = [
    await platforms.twitch.probe(url, never, 'ada'),
    await platforms.youtube.probe(url, never, 'ada'),
  ];

  expect(probes.map(({ playbackUrl }) => playbackUrl)).toEqual(['made 1', 'made 1']);
  expect(made).toEqual([defaultPlatformSettings]);
});

test('concurrent URLs share the capturers, and after a failure the next URL creates them again', async () => {
  let attempts = 0;
  const platforms = createReloadingPlatforms(
    async () => defaultPlatformSettings,
    async () => {
      attempts += 1;
      throw new Error(`attempt ${attempts}`);
    },
  );

  const first = await Promise.allSettled([
    platforms.twitch.probe(url, never, 'ada'),
    platforms.youtube.probe(url, never, 'ada'),
  ]);

  expect(first.map((each) => 'reason' in each && String(each.reason))).toEqual([
    'Error: attempt 1',
    'Error: attempt 1',
  ]);
  await expect(platforms.twitch.probe(url, never, 'ada')).rejects.toThrow('attempt 2');
});

test('changed settings create new platform capturers', async () => {
  const { platforms, made } = trial([defaultPlatformSettings, { ...defaultPlatformSettings }]);

  await platforms.twitch.probe(url, never, 'ada');
  const request = { url, mode: 'frames', clipSeconds: 3, caller: 'ada', resolveAgain: false } as const;

  await expect(platforms.twitch.capture(request, never)).rejects.toThrow('made 2');
  expect(made).toHaveLength(2);
});
