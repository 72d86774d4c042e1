/** Schemes of the URLs of streams. */
export const streamSchemes = ['http', 'https', 'rtsp'] as const;

/** Sources of streams, by scheme and host of their URLs. A further one needs a capturer in `adapters/media/stream-capturer.ts`. */
export const platforms = ['youtube', 'twitch', 'rtsp', 'hls'] as const;
export type Platform = (typeof platforms)[number];

/** Returns the source of a stream. Any URL that is not RTSP or a platform page is HLS; so is text that is not a URL. */
export function detectPlatform(text: string): Platform {
  const url = URL.parse(text);
  if (url?.protocol === 'rtsp:') return 'rtsp';
  const host = url?.hostname ?? '';
  if (/(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i.test(host)) return 'youtube';
  return /(^|\.)twitch\.tv\.?$/i.test(host) ? 'twitch' : 'hls';
}

/** Returns true for a stream that no platform serves. */
export function isCamera(url: string): boolean {
  return ['rtsp', 'hls'].includes(detectPlatform(url));
}
