import type { StreamProbe } from '../capture.ts';
import type { Collaborators } from '../collaborators.ts';
import { NotLiveError } from '../errors.ts';
import { probeStream } from './reach-stream.ts';

type Needs = Pick<Collaborators, 'streams' | 'limits'>;
type Platform = StreamProbe['platform'];

/**
 * Is there a live stream at this URL? What is there but not live (a recording, an ended or offline stream) is an answer with a hint;
 * a URL that is malformed, unsupported or cannot be reached throws `InvalidUrlError` or `StreamFetchError`. What is not known is left out.
 */
export async function validateStream(url: string, c: Needs) {
  try {
    const { platform, playbackUrl } = await probeStream(url, c);
    return { is_live: true, platform, parsed_url: playbackUrl };
  } catch (error) {
    if (!(error instanceof NotLiveError)) throw error;
    return {
      is_live: false,
      platform: platformOf(url),
      error_hint: `${error.message}. ${error.remediation}`,
    };
  }
}

/** By scheme and host, as the capturer chooses. */
function platformOf(text: string): Platform {
  const url = URL.parse(text);
  if (url?.protocol === 'rtsp:') return 'rtsp';
  const host = url?.hostname ?? '';
  if (/(^|\.)(youtube\.com|youtube-nocookie\.com|youtu\.be)\.?$/i.test(host)) return 'youtube';
  return /(^|\.)twitch\.tv\.?$/i.test(host) ? 'twitch' : 'hls';
}
