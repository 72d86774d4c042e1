import { z } from 'zod';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { FfmpegRunner } from '../media/ffmpeg/run-ffmpeg.ts';
import type { HlsLimits } from '../media/hls/capture-hls.ts';
import type { PlaylistBudget } from '../media/hls/playlist/playlist-budget.ts';
import { createPlatformCapturer, type PlatformStreams } from './platform-capturer.ts';
import type { PlatformSettings, TwitchSettings, YoutubeSettings } from './platform-settings.ts';
import { parsePlatformUrl } from './parse-platform-url.ts';
import { markAdvertisements, resolveTwitch } from './twitch/resolve-twitch.ts';
import { createInnertube } from './youtube/innertube.ts';
import { resolveYoutube } from './youtube/resolve-youtube.ts';
import { InvalidUrlError, NotLiveError } from '../../core/errors.ts';
import type { NotLivePage } from './resolution.ts';

const watchPageSchema = z.object({
  contents: z.object({
    twoColumnWatchNextResults: z.object({
      results: z.object({ results: z.object({ contents: z.array(z.unknown()) }) }),
    }),
  }),
});

const primaryInfoSchema = z.object({
  videoPrimaryInfoRenderer: z.object({
    viewCount: z.object({
      videoViewCountRenderer: z.object({ isLive: z.literal(true), originalViewCount: z.coerce.number() }),
    }),
  }),
});

/** Reads the number of viewers of a broadcast from its page, or undefined. */
function readViewerCount(watchPage: unknown): number | undefined {
  const page = watchPageSchema.safeParse(watchPage);
  if (!page.success) return undefined;
  for (const part of page.data.contents.twoColumnWatchNextResults.results.results.contents) {
    const info = primaryInfoSchema.safeParse(part);
    if (!info.success) continue;
    const { originalViewCount } = info.data.videoPrimaryInfoRenderer.viewCount.videoViewCountRenderer;
    return Number.isSafeInteger(originalViewCount) && originalViewCount >= 0 ? originalViewCount : undefined;
  }
  return undefined;
}

export type PlatformDeps = {
  http: GuardedHttp;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  random: () => number;
  budget: PlaylistBudget;
  limits: Partial<HlsLimits>;
};

/** Creates a capturer per platform. They send no request and load no large module before the first capture. */
export function createPlatforms(
  settings: PlatformSettings,
  deps: PlatformDeps,
): Record<'youtube' | 'twitch', StreamCapturer> {
  const youtubeHttp = through(settings.youtube.proxyUrl, deps.http);
  const twitchHttp = through(settings.twitch.proxyUrl, deps.http);
  return {
    youtube: createPlatformCapturer({
      ...deps,
      http: youtubeHttp,
      streams: youtubeStreams(settings.youtube, youtubeHttp),
    }),
    twitch: createPlatformCapturer({
      ...deps,
      http: twitchHttp,
      streams: twitchStreams(settings.twitch, twitchHttp, deps.random),
    }),
  };
}

function youtubeStreams(settings: YoutubeSettings, http: GuardedHttp): PlatformStreams {
  const innertube = createInnertube({ http, settings });
  return {
    platform: 'youtube',
    resolve: async (url) => {
      const page = parsePlatformUrl(new URL(url));
      if (page?.platform !== 'youtube') throw notLivePageError('other', 'youtube');
      if (page.kind !== 'video' && page.kind !== 'channel') throw notLivePageError(page.kind, 'youtube');
      return resolveYoutube(page, innertube, settings.clients);
    },
    viewers: async ({ details }) => readViewerCount(await innertube.watchPage(details.streamId ?? '')),
  };
}

function twitchStreams(settings: TwitchSettings, http: GuardedHttp, random: () => number): PlatformStreams {
  return {
    platform: 'twitch',
    resolve: async (url) => {
      const page = parsePlatformUrl(new URL(url));
      if (page?.platform !== 'twitch') throw notLivePageError('other', 'twitch');
      if (page.kind !== 'channel') throw notLivePageError(page.kind, 'twitch');
      return resolveTwitch(page, { http, settings, random });
    },
    preparePlaylist: markAdvertisements,
  };
}

/** Sends all requests of a platform through its proxy, if one is set. */
function through(proxyUrl: string | null, http: GuardedHttp): GuardedHttp {
  if (proxyUrl === null) return http;
  return { ...http, request: (url, request) => http.request(url, { ...request, proxyUrl }) };
}

/** Returns the error for a page that is never live, from its URL alone. */
function notLivePageError(kind: NotLivePage['kind'], platform: 'youtube' | 'twitch'): Error {
  const instead = `Use the URL of a live broadcast: ${liveForms[platform]}.`;
  return kind === 'other'
    ? new InvalidUrlError(`This ${names[platform]} page has no stream. ${instead}`)
    : new NotLiveError(`The URL leads to ${things[kind]}. ${instead}`);
}

const names = { youtube: 'YouTube', twitch: 'Twitch' } as const;

const liveForms = {
  youtube:
    'https://www.youtube.com/watch?v=ID, https://youtu.be/ID, https://www.youtube.com/@handle/live or /channel/UC…/live',
  twitch: 'https://www.twitch.tv/name',
} as const;

const things = {
  short: 'a short',
  clip: 'a clip',
  playlist: 'a playlist',
  recording: 'a past broadcast',
} as const satisfies Record<Exclude<NotLivePage['kind'], 'other'>, string>;
