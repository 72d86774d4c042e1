import { NotLiveError, type StreamFetchError } from '../../../core/errors.ts';
import type { StreamDetails } from '../../../core/records/capture.ts';
import { platformBlockedError } from '../platform-request.ts';
import { BroadcastEndedError } from '../resolution.ts';
import type { PlayerResponse } from './player-response.ts';
import { readRefusal } from './refusal.ts';

/** State of a video in one player response. */
export type PlayerState =
  | { kind: 'live'; playlistUrl: string }
  /** Not live for any client. */
  | { kind: 'not_live'; error: NotLiveError }
  /** No playlist for this client; another client may get one. */
  | { kind: 'refused'; error: StreamFetchError | NotLiveError };

/** Reads the state of a video from a player response. */
export function playerState(response: PlayerResponse): PlayerState {
  const { status } = response.playabilityStatus;
  if (status === 'OK') return playable(response);
  if (status === 'LIVE_STREAM_OFFLINE') return notLive(isUpcoming(response) ? upcoming : offline, response);
  return { kind: 'refused', error: readRefusal(response) };
}

/** Reads the stream details from a player response. Absent values are omitted. */
export function readDetails({ videoDetails }: PlayerResponse): StreamDetails {
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
  // A broadcast that has just ended still has a playlist of its recording.
  if (video?.isPostLiveDvr) return over(response);
  if (video?.isLive) {
    return streamingData?.hlsManifestUrl === undefined
      ? {
          kind: 'refused',
          error: platformBlockedError('YouTube', 'it reports a live stream without its playlist'),
        }
      : { kind: 'live', playlistUrl: streamingData.hlsManifestUrl };
  }
  if (video?.isLiveContent) return over(response);
  return notLive(ordinary, response);
}

type Words = { remediation: string; message?: string };

const ordinary: Words = {
  remediation: 'The URL leads to an ordinary video. Use the URL of a live broadcast.',
};
const upcoming: Words = {
  remediation: 'The broadcast has not started. Create the job when it is live.',
};
const offline: Words = {
  remediation: 'The broadcast is not sending video. Try again when it is live.',
  message: 'Stream is offline',
};

function notLive({ remediation, message }: Words, response: PlayerResponse): PlayerState {
  return {
    kind: 'not_live',
    error: new NotLiveError(remediation, message, { details: readDetails(response) }),
  };
}

function over(response: PlayerResponse): PlayerState {
  const remediation =
    'The broadcast has ended, and the URL leads to its recording. Use the URL of a live broadcast.';
  return {
    kind: 'not_live',
    error: new BroadcastEndedError(remediation, undefined, { details: readDetails(response) }),
  };
}

/** Returns true for a scheduled broadcast. Without its start time, it looks like an interrupted one. */
function isUpcoming({ videoDetails, playabilityStatus }: PlayerResponse): boolean {
  return videoDetails?.isUpcoming === true || playabilityStatus.liveStreamability !== undefined;
}
