import type { StreamDetails } from '../records/capture.ts';
import { NotLiveError, StreamFetchError } from '../errors.ts';
import { maskUrl } from './mask-url.ts';
import { detectPlatform } from '../records/platform.ts';
import { captureStream, probeStream } from './stream-access.ts';
import type { ReachDeps } from './stream-access.ts';

/**
 * Is there a live stream at this URL? What is there but not live (a recording, an ended or offline stream) is an answer with a hint;
 * a URL that is malformed, unsupported or cannot be reached throws `InvalidUrlError` or `StreamFetchError`. What is not known is left out.
 */
export async function validateStream(url: string, includeFrame: boolean, caller: string, deps: ReachDeps) {
  try {
    const { platform, playbackUrl, details } = await probeStream(url, caller, deps);
    return {
      is_live: true,
      platform,
      ...described(details ?? {}),
      parsed_url: maskUrl(playbackUrl),
      ...(includeFrame && (await readPicture(url, caller, deps))),
    };
  } catch (error) {
    if (!(error instanceof NotLiveError)) throw error;
    return {
      is_live: false,
      platform: detectPlatform(url),
      ...described(error.details),
      error_hint: `${error.message}. ${error.remediation}`,
    };
  }
}

/** A stream that is live and gives no picture now is live all the same. */
async function readPicture(url: string, caller: string, deps: ReachDeps): Promise<{ frame_b64?: string }> {
  try {
    const request = { url, mode: 'frames', clipSeconds: 1, resolveAgain: false } as const;
    const { frame } = await captureStream(request, caller, deps);
    return { frame_b64: Buffer.from(frame).toString('base64') };
  } catch (error) {
    if (error instanceof StreamFetchError) return {};
    throw error;
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
