import type { Capture, StreamDetails } from '../records/capture.ts';
import { NotLiveError, StreamFetchError } from '../errors.ts';
import { maskUrl } from './mask-url.ts';
import { detectPlatform } from '../records/platform.ts';
import { captureStream, probeStream, type ReachDeps } from './stream-access.ts';

/**
 * Validates the URL of a live stream. A recording, ended or offline stream is a result with a hint; unknown fields are
 * absent. Throws `InvalidUrlError` for a malformed or unsupported URL, `StreamFetchError` for an unreachable one.
 */
export async function validateStream(url: string, includeFrame: boolean, caller: string, deps: ReachDeps) {
  try {
    const { platform, playbackUrl, details } = await probeStream(url, caller, deps);
    return {
      is_live: true,
      platform,
      ...toFields(details ?? {}),
      parsed_url: maskUrl(playbackUrl),
      ...(includeFrame && (await readFrame(url, caller, deps))),
    };
  } catch (error) {
    if (!(error instanceof NotLiveError)) throw error;
    return {
      is_live: false,
      platform: detectPlatform(url),
      ...toFields(error.details),
      error_hint: `${error.message}. ${error.remediation}`,
    };
  }
}

/** Time between new pictures from which a stream is sparse, in seconds: the usual interval of checks. */
const sparseSeconds = 10;

/**
 * Returns the time between new pictures of a sparse stream, in seconds: that of its segments or key frames. Undefined
 * for another stream.
 */
export function readSparseSeconds({
  position,
  isIntervalAssumed = false,
  keyFrameSeconds = 0,
}: Pick<Capture, 'position' | 'isIntervalAssumed' | 'keyFrameSeconds'>): number | undefined {
  const hasInterval = position.segment !== null && !isIntervalAssumed;
  const seconds = Math.max(hasInterval ? position.segment_seconds : 0, keyFrameSeconds);
  return seconds > sparseSeconds ? Math.round(seconds) : undefined;
}

type FrameFields = { frame_b64?: string; picture_seconds?: number; error_hint?: string };

/** Reads a frame. Returns the reason if the capture fails: the stream is live nevertheless. */
async function readFrame(url: string, caller: string, deps: ReachDeps): Promise<FrameFields> {
  try {
    const request = {
      url,
      mode: 'frames',
      clipSeconds: 1,
      resolveAgain: false,
      measuresKeyFrames: true,
    } as const;
    const capture = await captureStream(request, caller, deps);
    const seconds = readSparseSeconds(capture);
    return {
      frame_b64: Buffer.from(capture.frame).toString('base64'),
      ...(seconds !== undefined && { picture_seconds: seconds }),
    };
  } catch (error) {
    if (error instanceof StreamFetchError) return { error_hint: `${error.message}. ${error.remediation}` };
    throw error;
  }
}

function toFields({ streamId, title, channel, thumbnailUrl, viewers }: StreamDetails) {
  return {
    ...(streamId === undefined ? {} : { stream_id: streamId }),
    ...(title === undefined ? {} : { title }),
    ...(channel === undefined ? {} : { channel }),
    ...(thumbnailUrl === undefined ? {} : { thumbnail_url: thumbnailUrl }),
    ...(viewers === undefined ? {} : { viewer_count: viewers }),
  };
}
