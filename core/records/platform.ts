/** Where a stream comes from, by the scheme and host of its URL. */
export type Platform = 'youtube' | 'twitch' | 'rtsp' | 'hls';

/** Everything but RTSP and the pages of platforms is HLS, whatever its path ends in, and text that is no URL too. */
export function detectPlatform(text: string): Platform {
  const url = URL.parse(text);
  if (url?.protocol === 'rtsp:') return 'rtsp';
  const host = url?.hostname ?? '';
  if (/(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i.test(host)) return 'youtube';
  return /(^|\.)twitch\.tv\.?$/i.test(host) ? 'twitch' : 'hls';
}
