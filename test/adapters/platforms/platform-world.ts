import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import type { FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../../../adapters/media/stream-capturer.ts';
import { defaultPlatformSettings } from '../../../adapters/platforms/platform-settings.ts';
import type { TwitchSettings, YoutubeSettings } from '../../../adapters/platforms/platform-settings.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { startFakeTwitch } from '../../support/platforms/fake-twitch.ts';
import { startFakeYoutube } from '../../support/platforms/fake-youtube.ts';

/** Capturer as wired in the service, with local platforms and a stopped clock. */
export async function startPlatforms() {
  const youtube = await startFakeYoutube();
  const twitch = await startFakeTwitch();
  const clock = { now: new Date('2026-11-20T12:00:00Z') };
  twitch.now = () => clock.now;
  const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
  const capturer = (
    settings: { youtube?: Partial<YoutubeSettings>; twitch?: Partial<TwitchSettings> } = {},
  ) =>
    createStreamCapturer({
      guard: createEgressGuard({ allowRanges: ['127.0.0.0/8'] }),
      http,
      ffmpeg,
      now: () => clock.now,
      platforms: {
        youtube: { ...defaultPlatformSettings.youtube, url: youtube.url, ...settings.youtube },
        twitch: {
          ...defaultPlatformSettings.twitch,
          gqlUrl: twitch.gqlUrl,
          usherUrl: twitch.usherUrl,
          ...settings.twitch,
        },
      },
    });
  return {
    youtube,
    twitch,
    clock,
    capturer,
    later: (seconds: number) => void (clock.now = new Date(clock.now.getTime() + seconds * 1000)),
    close: async () => {
      await http.close();
      await youtube.close();
      await twitch.close();
    },
  };
}

export type Platforms = Awaited<ReturnType<typeof startPlatforms>>;

/** Frames do not matter for these tests: this ffmpeg reads no input. */
const ffmpeg: FfmpegRunner = {
  run: () => Promise.resolve({ frame: new Uint8Array(1), thumbnail: new Uint8Array(1) }),
  runAll: () => Promise.resolve([]),
};

export const never = new AbortController().signal;

export const look = (url: string, resolveAgain = false) => ({
  url,
  mode: 'frames' as const,
  clipSeconds: 3,
  caller: 'ada',
  resolveAgain,
});

/** Returns the error of a probe. */
export async function readFailure(capturer: StreamCapturer, url: string): Promise<any> {
  return capturer.probe(url, never, 'ada').then(
    () => {
      throw new Error('Expected an error');
    },
    (error: unknown) => error,
  );
}
