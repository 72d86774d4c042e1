import type { StreamDetails } from '../capture.ts';
import type { Collaborators } from '../collaborators.ts';
import { NotLiveError } from '../errors.ts';
import { platformOf } from '../platform.ts';
import { probeStream } from './reach-stream.ts';

type Needs = Pick<Collaborators, 'streams' | 'limits'>;

/**
 * Is there a live stream at this URL? What is there but not live (a recording, an ended or offline stream) is an answer with a hint;
 * a URL that is malformed, unsupported or cannot be reached throws `InvalidUrlError` or `StreamFetchError`. What is not known is left out.
 */
export async function validateStream(url: string, c: Needs) {
  try {
    const { platform, playbackUrl, details } = await probeStream(url, c);
    return { is_live: true, platform, ...described(details ?? {}), parsed_url: playbackUrl };
  } catch (error) {
    if (!(error instanceof NotLiveError)) throw error;
    return {
      is_live: false,
      platform: platformOf(url),
      ...described(error.details),
      error_hint: `${error.message}. ${error.remediation}`,
    };
  }
}

function described({ streamId, title, channel, thumbnailUrl, viewers }: StreamDetails) {
  return {
    ...(streamId === undefined ? {} : { stream_id: streamId }),
    ...(title === undefined ? {} : { title }),
    ...(channel === undefined ? {} : { channel }),
    ...(thumbnailUrl === undefined ? {} : { thumbnail_url: thumbnailUrl }),
    ...(viewers === undefined ? {} : { viewer_count: viewers }),
  };
}
