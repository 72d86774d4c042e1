export const streamSchemes = ['http', 'https', 'rtsp', 'rtsps', 'rtsp+http', 'rtsp+https'] as const;

/** Sources of streams. A further one needs a capturer in `adapters/media/stream-capturer.ts`. */
export const platforms = ['youtube', 'twitch', 'rtsp', 'hls', 'jpeg', 'mjpeg', 'mpegts'] as const;
export type Platform = (typeof platforms)[number];

/** Facts of a source: what its URLs have, and what it gives. */
type Facts = {
  schemes?: readonly (typeof streamSchemes)[number][];
  /** Host of a website whose pages lead to streams; absent for a camera. */
  website?: RegExp;
  /** Extensions of the paths of web addresses. */
  extensions?: readonly string[];
  /**
   * True if a session brings the whole stream between two captures, without further requests: it has pictures between
   * two key frames too.
   */
  hasSession?: true;
};

const facts: Record<Platform, Facts> = {
  youtube: { website: /(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i },
  twitch: { website: /(^|\.)twitch\.tv\.?$/i },
  rtsp: { schemes: ['rtsp', 'rtsps', 'rtsp+http', 'rtsp+https'], hasSession: true },
  hls: {},
  jpeg: { extensions: ['jpg', 'jpeg'] },
  mjpeg: { extensions: ['mjpg', 'mjpeg'] },
  mpegts: { extensions: ['ts'] },
};

/**
 * Returns the source of a stream by its URL: by its scheme or host, of another web address by its extension, HLS
 * without a known one. The content of the response decides later. Text that is not a URL is HLS.
 */
export function detectPlatform(text: string): Platform {
  const url = URL.parse(text);
  if (!url) return 'hls';
  const [, extension = ''] = /\.([a-z0-9]+)$/i.exec(url.pathname) ?? [];
  return (
    find(({ schemes }) => schemes?.some((scheme) => url.protocol === `${scheme}:`)) ??
    find(({ website }) => website?.test(url.hostname)) ??
    find(({ extensions }) => extensions?.includes(extension.toLowerCase())) ??
    'hls'
  );
}

function find(has: (each: Facts) => boolean | undefined): Platform | undefined {
  return platforms.find((name) => has(facts[name]));
}

/** Returns true for a stream that no platform serves. */
export function isCamera(url: string): boolean {
  return facts[detectPlatform(url)].website === undefined;
}

/** Returns true for a source with sessions. */
export function hasSession(platform: Platform): boolean {
  return facts[platform].hasSession === true;
}
