/** Source of a stream, by scheme and host of its URL. */
export type Platform = 'youtube' | 'twitch' | 'rtsp' | 'hls';

/** Returns the source of a stream. Any URL that is not RTSP or a platform page is HLS; so is text that is not a URL. */
export function detectPlatform(text: string): Platform {
  const url = URL.parse(text);
  if (url?.protocol === 'rtsp:') return 'rtsp';
  const host = url?.hostname ?? '';
  if (/(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i.test(host)) return 'youtube';
  return /(^|\.)twitch\.tv\.?$/i.test(host) ? 'twitch' : 'hls';
}
