import { NotLiveError, type StreamFetchError } from '../../../core/errors.ts';
import type { StreamDetails } from '../../../core/capture.ts';
import { keptOut } from '../ask-platform.ts';
import { BroadcastOverError } from '../resolution.ts';
import type { PlayerResponse } from './player-response.ts';
import { refusalOf } from './refusal.ts';

export type PlayerState =
  | { kind: 'live'; playlistUrl: string }
  /** Whichever application asks, it is not live. */
  | { kind: 'not_live'; error: NotLiveError }
  /** This application was not given a playlist; another may be. */
  | { kind: 'refused'; error: StreamFetchError | NotLiveError };

/** What YouTube says of a video. */
export function playerState(response: PlayerResponse): PlayerState {
  const { status } = response.playabilityStatus;
  if (status === 'OK') return playable(response);
  if (status === 'LIVE_STREAM_OFFLINE') return notLive(isUpcoming(response) ? upcoming : offline, response);
  return { kind: 'refused', error: refusalOf(response) };
}

export function detailsOf({ videoDetails }: PlayerResponse): StreamDetails {
  if (videoDetails === undefined) return {};
  const { videoId, title, author, thumbnail } = videoDetails;
  const largest = thumbnail?.thumbnails.toSorted((a, b) => b.width - a.width)[0];
  return {
    streamId: videoId,
    ...(title === undefined ? {} : { title }),
    ...(author === undefined ? {} : { channel: author }),
    ...(largest === undefined ? {} : { thumbnailUrl: largest.url }),
  };
}

function playable(response: PlayerResponse): PlayerState {
  const { videoDetails: video, streamingData } = response;
  if (video?.isUpcoming) return notLive(upcoming, response);
  // A broadcast that has just ended still has a playlist, of its recording.
  if (video?.isPostLiveDvr) return over(response);
  if (video?.isLive) {
    return streamingData?.hlsManifestUrl === undefined
      ? { kind: 'refused', error: keptOut('YouTube', 'it tells that the stream is live, and not where') }
      : { kind: 'live', playlistUrl: streamingData.hlsManifestUrl };
  }
  if (video?.isLiveContent) return over(response);
  return notLive(ordinary, response);
}

type Words = { remediation: string; message?: string };

const ordinary: Words = {
  remediation: 'The URL is of an ordinary video. Give the URL of a broadcast that is live.',
};
const upcoming: Words = {
  remediation: 'The broadcast has not begun. Start the job when it is live.',
};
const offline: Words = {
  remediation: 'The broadcast sends nothing at the moment. Try again when it is live.',
  message: 'Stream is offline',
};

function notLive({ remediation, message }: Words, response: PlayerResponse): PlayerState {
  return {
    kind: 'not_live',
    error: new NotLiveError(remediation, message, { details: detailsOf(response) }),
  };
}

function over(response: PlayerResponse): PlayerState {
  const remediation =
    'The broadcast is over; the URL leads to its recording. Give the URL of one that is live.';
  return {
    kind: 'not_live',
    error: new BroadcastOverError(remediation, undefined, { details: detailsOf(response) }),
  };
}

/** A broadcast that is to begin is as offline as one whose camera fell silent, but for its appointment. */
function isUpcoming({ videoDetails, playabilityStatus }: PlayerResponse): boolean {
  return videoDetails?.isUpcoming === true || playabilityStatus.liveStreamability !== undefined;
}
