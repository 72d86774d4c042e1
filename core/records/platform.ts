/** Schemes of the URLs of streams. */
export const streamSchemes = ['http', 'https', 'rtsp', 'rtsps', 'rtsp+http', 'rtsp+https'] as const;

/** Sources of streams. A further one needs a capturer in `adapters/media/stream-capturer.ts`. */
export const platforms = ['youtube', 'twitch', 'rtsp', 'hls', 'jpeg', 'mjpeg', 'mpegts'] as const;
export type Platform = (typeof platforms)[number];

/**
 * Returns the source of a stream by its URL: of a web address, by its extension, HLS without a known one. The content of the response decides later. Text that
 * is not a URL is HLS.
 */
export function detectPlatform(text: string): Platform {
  const url = URL.parse(text);
  if (/^rtsp(s|\+https?)?:$/.test(url?.protocol ?? '')) return 'rtsp';
  const host = url?.hostname ?? '';
  if (/(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i.test(host)) return 'youtube';
  if (/(^|\.)twitch\.tv\.?$/i.test(host)) return 'twitch';
  const [, extension = ''] = /\.([a-z0-9]+)$/i.exec(url?.pathname ?? '') ?? [];
  return byExtension[extension.toLowerCase()] ?? 'hls';
}

const byExtension: Partial<Record<string, Platform>> = {
  jpg: 'jpeg',
  jpeg: 'jpeg',
  mjpg: 'mjpeg',
  mjpeg: 'mjpeg',
  ts: 'mpegts',
};

/** Returns true if a session brings the whole stream between two captures, without further requests: it has pictures between two key frames too. */
export function hasSession(platform: Platform): boolean {
  return platform === 'rtsp';
}

/** Returns true for a stream that no platform serves. */
export function isCamera(url: string): boolean {
  return !['youtube', 'twitch'].includes(detectPlatform(url));
}
