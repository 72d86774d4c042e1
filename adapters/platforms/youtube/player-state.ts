import { z } from 'zod';
import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import type { StreamDetails } from '../../../core/records/capture.ts';
import { platformBlockedError } from '../platform-request.ts';
import { BroadcastEndedError } from '../resolution.ts';

/** Used part of InnerTube's `/player` response. Everything except the status may be absent or of another type. */
const text = z.union([
  z.object({ simpleText: z.string() }).transform(({ simpleText }) => simpleText),
  z
    .object({ runs: z.array(z.object({ text: z.string() })) })
    .transform(({ runs }) => runs.map((run) => run.text).join('')),
]);

const flag = z.boolean().default(false).catch(false);

const thumbnails = z.array(z.object({ url: z.url(), width: z.number().default(0).catch(0) })).catch([]);

/** Schema of the used part of InnerTube's `/player` response. */
export const playerResponseSchema = z.object({
  playabilityStatus: z.object({
    status: z.string(),
    reason: z.string().optional().catch(undefined),
    errorScreen: z
      .object({
        playerErrorMessageRenderer: z.object({ reason: text.optional(), subreason: text.optional() }),
      })
      .optional()
      .catch(undefined),
    liveStreamability: z
      .object({
        liveStreamabilityRenderer: z.object({
          offlineSlate: z.object({
            liveStreamOfflineSlateRenderer: z.object({ scheduledStartTime: z.string() }),
          }),
        }),
      })
      .optional()
      .catch(undefined),
  }),
  videoDetails: z
    .object({
      videoId: z.string(),
      title: z.string().optional().catch(undefined),
      author: z.string().optional().catch(undefined),
      thumbnail: z.object({ thumbnails }).optional().catch(undefined),
      isLive: flag,
      isLiveContent: flag,
      isUpcoming: flag,
      isPostLiveDvr: flag,
    })
    .optional()
    .catch(undefined),
  streamingData: z.object({ hlsManifestUrl: z.url().optional() }).optional().catch(undefined),
});

/** Used part of InnerTube's `/player` response. */
export type PlayerResponse = z.infer<typeof playerResponseSchema>;

/** Returns the error for a rejected video, from its status and English text. YouTube gives no other reason. */
function readRefusal({ playabilityStatus }: PlayerResponse): StreamFetchError | NotLiveError {
  const { status, reason = '', errorScreen } = playabilityStatus;
  const screen = errorScreen?.playerErrorMessageRenderer;
  const words = [reason, screen?.reason, screen?.subreason].filter(Boolean).join(' ').slice(0, 300);
  if (/not a bot|unusual traffic/i.test(words))
    return platformBlockedError('YouTube', 'it requires a sign-in to exclude bots');
  const match = reasons.find(({ pattern }) => pattern.test(words) || pattern.test(status));
  if (match) return match.error();
  if (status === 'LOGIN_REQUIRED') return platformBlockedError('YouTube', 'it requires a sign-in');
  // Deleted or nonexistent video.
  if (status === 'ERROR') return new NotLiveError('The video does not exist (any more). Check the URL.');
  return new StreamFetchError(`Use another stream. YouTube rejects this one: ${words || status}`);
}

const reasons: { pattern: RegExp; error: () => StreamFetchError | NotLiveError }[] = [
  {
    pattern: /private/i,
    error: () =>
      new StreamFetchError(
        'The stream is private. Ask its owner to make it public or unlisted, or ask the operator to set cookies of an account with access (WATCHPOST_YOUTUBE_COOKIES).',
      ),
  },
  {
    pattern: /members[- ]only|join this channel|membership|members on level/i,
    error: () =>
      new StreamFetchError(
        'The stream is restricted to members of the channel. Ask the operator to set cookies of a member (WATCHPOST_YOUTUBE_COOKIES), or use a public stream.',
      ),
  },
  {
    pattern: /confirm your age|age[- ]restricted|inappropriate for some|AGE_(VERIFICATION|CHECK)_REQUIRED/i,
    error: () =>
      new StreamFetchError(
        'The stream is age-restricted. Ask the operator to set cookies of an adult account (WATCHPOST_YOUTUBE_COOKIES), or use another stream.',
      ),
  },
  {
    pattern: /in your (country|region|location)|not available in your/i,
    error: () =>
      new StreamFetchError(
        'The stream is blocked in the region of this service. Ask the operator to set a proxy in another region (WATCHPOST_YOUTUBE_PROXY).',
      ),
  },
  {
    pattern: /requires payment|\brent(al)?\b|\bpurchase/i,
    error: () => new StreamFetchError('The stream requires payment. Use a public stream.'),
  },
  {
    pattern: /recording is not available|live (event|stream) has ended|broadcast has ended/i,
    error: () =>
      new BroadcastEndedError(
        'The broadcast has ended without a recording. Use the URL of a live broadcast.',
      ),
  },
];

/** State of a video in one player response. */
export type PlayerState =
  | { kind: 'live'; playlistUrl: string }
  /** Not live for any client. */
  | { kind: 'not_live'; error: NotLiveError }
  /** No playlist for this client; another client may get one. */
  | { kind: 'refused'; error: StreamFetchError | NotLiveError };

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
