import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import type { StreamDetails } from '../../../core/records/capture.ts';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { platformBlockedError, requestPlatform, unexpectedResponseError } from '../platform-request.ts';
import { BroadcastEndedError, type TwitchPage, type Resolution } from '../resolution.ts';
import type { TwitchSettings } from '../platform-settings.ts';
import { z } from 'zod';
import { cookieValue } from '../cookies.ts';
import { parseJson } from '../../../core/parse-json.ts';
import { parseIsoTime } from '../../../core/outside-time.ts';
import type { PreparePlaylist } from '../../media/hls/playlist/fetch-playlist.ts';

const tokenAnswerSchema = z.object({
  data: z.object({
    streamPlaybackAccessToken: z.object({ value: z.string(), signature: z.string() }).nullable(),
  }),
});

const count = z.int().nonnegative().nullish().catch(null);
const words = z.string().nullish().catch(null);

const channelAnswerSchema = z.object({
  data: z.object({
    user: z
      .object({
        displayName: words,
        broadcastSettings: z.object({ title: words }).nullish().catch(null),
        stream: z
          .object({ id: z.string(), type: words, title: words, viewersCount: count, previewImageURL: words })
          .nullable(),
      })
      .nullable(),
  }),
});

type TwitchToken = NonNullable<z.infer<typeof tokenAnswerSchema>['data']['streamPlaybackAccessToken']>;
/** Channel, or `null` if it does not exist. */
type TwitchChannel = z.infer<typeof channelAnswerSchema>['data']['user'];

/**
 * Requests a channel and its access token in one request. Uses plain queries, because the hashes of persisted ones
 * rotate. `channel` is undefined if its format is unknown: that costs the description, not the stream.
 */
async function queryTwitch(
  login: string,
  http: GuardedHttp,
  settings: TwitchSettings,
): Promise<{ token: TwitchToken | null; channel: TwitchChannel | undefined }> {
  const variables = { login };
  const answer = await requestPlatform(http, 'Twitch', settings.gqlUrl, {
    method: 'POST',
    headers: toHeaders(settings),
    body: JSON.stringify([
      { query: tokenQuery, variables },
      { query: channelQuery, variables },
    ]),
  });
  if (answer.status === 429) throw platformBlockedError('Twitch', 'it limits requests from this address');
  if (answer.status !== 200) throw platformBlockedError('Twitch', `it returns HTTP status ${answer.status}`);
  const [token, channel] = readPair(answer.body);
  const channelRead = channelAnswerSchema.safeParse(channel);
  return { token: readToken(token), channel: channelRead.success ? channelRead.data.data.user : undefined };
}

const tokenQuery =
  'query($login: String!) { streamPlaybackAccessToken(channelName: $login, params: {platform: "web", playerBackend: "mediaplayer", playerType: "site"}) { value signature } }';

const channelQuery =
  'query($login: String!) { user(login: $login) { displayName broadcastSettings { title } stream { id type title viewersCount previewImageURL(width: 640, height: 360) } } }';

/** Sends only `auth-token` of the account cookies, like Twitch's web page. */
function toHeaders({ clientId, cookies }: TwitchSettings): Record<string, string> {
  const account = cookieValue(cookies, 'auth-token');
  return {
    'client-id': clientId,
    'content-type': 'text/plain;charset=UTF-8',
    ...(account === null ? {} : { authorization: `OAuth ${account}` }),
  };
}

function readPair(body: Uint8Array): unknown[] {
  try {
    return z.array(z.unknown()).parse(JSON.parse(Buffer.from(body).toString()));
  } catch (cause) {
    throw unexpectedResponseError('Twitch', cause);
  }
}

const refusedSchema = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });

function readToken(answer: unknown): TwitchToken | null {
  const read = tokenAnswerSchema.safeParse(answer);
  if (read.success) return read.data.data.streamPlaybackAccessToken;
  const refused = refusedSchema.safeParse(answer);
  if (refused.success && refused.data.errors.some(({ message }) => /integrity/i.test(message))) {
    throw platformBlockedError('Twitch', 'it requires a browser integrity check');
  }
  throw unexpectedResponseError('Twitch', read.error);
}

/** Claims of a playback access token: the JSON in its `value`. Every field is optional. */
const tokenSchema = z.object({
  expires: z.number().int().positive().optional().catch(undefined),
  ci_gb: z.boolean().default(false).catch(false),
  geoblock_reason: z.string().default('').catch(''),
  authorization: z.object({ forbidden: z.boolean() }).optional().catch(undefined),
  private: z.object({ allowed_to_view: z.boolean() }).optional().catch(undefined),
});

type AccessToken = z.infer<typeof tokenSchema>;

/** Reads the claims of a token. Unreadable claims are treated as absent, because Twitch may change the format. */
function readAccessToken(value: string): AccessToken {
  return tokenSchema.catch(noClaims).parse(parseJson(value));
}

const noClaims: AccessToken = { ci_gb: false, geoblock_reason: '' };

/** Returns the error for a token that Twitch will reject according to its claims, or null. */
function tokenRefusal(token: AccessToken): StreamFetchError | null {
  if (token.ci_gb || token.geoblock_reason !== '') return regionBlockedError();
  if (token.private?.allowed_to_view === false || token.authorization?.forbidden === true)
    return restrictedError();
  return null;
}

function regionBlockedError(): StreamFetchError {
  return new StreamFetchError(
    'The stream is blocked in the region of this service, or for its kind of address. Ask the operator to set a proxy in another region (WATCHPOST_TWITCH_PROXY).',
  );
}

function restrictedError(): StreamFetchError {
  return new StreamFetchError(
    'The stream is restricted to subscribers or otherwise not public. Ask the operator to set cookies of an account with access (WATCHPOST_TWITCH_COOKIES), or use a public stream.',
  );
}

/**
 * Returns the URL of a channel's multivariant playlist, with the parameters of Twitch's player. Requests H.264
 * only, which every ffmpeg decodes.
 */
function usherPlaylistUrl(usherUrl: string, login: string, token: TwitchToken, random: number): string {
  const query = new URLSearchParams({
    allow_source: 'true',
    playlist_include_framerate: 'true',
    player_backend: 'mediaplayer',
    platform: 'web',
    supported_codecs: 'h264',
    p: String(Math.floor(random * 9_999_999)),
    sig: token.signature,
    token: token.value,
  });
  return `${usherUrl}/api/v2/channel/hls/${login}.m3u8?${query.toString()}`;
}

/** Requests the playlist once to read the reason of a rejection, which a capture would only see as a status. */
async function checkUsher(playlistUrl: string, http: GuardedHttp): Promise<void> {
  const { status, body } = await requestPlatform(http, 'Twitch', playlistUrl, {});
  if (status === 200) return;
  if (status === 404) throw channelOfflineError();
  throw status === 403 ? forbidden(errorCode(body)) : unexplained(status);
}

/**
 * Error for an offline channel, which has ended: after a lost connection, Twitch keeps a channel live for a while.
 */
function channelOfflineError(details = {}): BroadcastEndedError {
  return new BroadcastEndedError('The channel is not live. Try again when it is.', 'Stream is offline', {
    details,
  });
}

const errorsSchema = z.array(z.object({ error_code: z.string() })).min(1);

function errorCode(body: Uint8Array): string {
  const { data } = errorsSchema.safeParse(parseJson(Buffer.from(body).toString()));
  return data?.[0]?.error_code ?? '';
}

function forbidden(code: string): StreamFetchError {
  if (code === 'content_geoblocked') return regionBlockedError();
  if (code === 'unauthorized_entitlements') return restrictedError();
  return platformBlockedError('Twitch', 'it rejects the playlist request');
}

function unexplained(status: number): StreamFetchError {
  return new StreamFetchError(`Twitch returned HTTP status ${status}. Try again later.`);
}

/**
 * Resolves the broadcast of a Twitch channel. Throws `NotLiveError` (offline, unknown, rerun) and
 * `StreamFetchError`.
 */
export async function resolveTwitch(
  { login }: TwitchPage,
  deps: { http: GuardedHttp; settings: TwitchSettings; random: () => number },
): Promise<Resolution> {
  const { token, channel } = await queryTwitch(login, deps.http, deps.settings);
  checkLive(channel);
  // Without a channel description, a missing token is treated as offline.
  if (token === null)
    throw channel ? platformBlockedError('Twitch', 'it returns no access token') : channelOfflineError();
  const read = readAccessToken(token.value);
  const refusal = tokenRefusal(read);
  if (refusal) throw refusal;
  const playlistUrl = usherPlaylistUrl(deps.settings.usherUrl, login, token, deps.random());
  await checkUsher(playlistUrl, deps.http);
  return {
    playlistUrl,
    expiresAt: read.expires === undefined ? null : new Date(read.expires * 1000),
    // Media playlists outlive the token, and each new one starts with an advertisement.
    mediaExpiresAt: null,
    pageUrl: `https://www.twitch.tv/${login}`,
    details: readDetails(channel),
  };
}

function checkLive(channel: TwitchChannel | undefined): void {
  if (channel === undefined) return;
  if (channel === null) throw new NotLiveError('The channel does not exist. Check its name in the URL.');
  const details = readDetails(channel);
  if (channel.stream === null) throw channelOfflineError(details);
  const { type } = channel.stream;
  if (type && type !== 'live') {
    const remediation = `The channel shows ${type === 'rerun' ? 'a rerun of a past broadcast' : `a ${type}`}. Try again when it is live.`;
    throw new NotLiveError(remediation, undefined, { details });
  }
}

function readDetails(channel: TwitchChannel | undefined): StreamDetails {
  const title = channel?.broadcastSettings?.title ?? channel?.stream?.title;
  const { stream, displayName } = channel ?? {};
  return {
    ...(stream ? { streamId: stream.id } : {}),
    ...(title ? { title } : {}),
    ...(displayName ? { channel: displayName } : {}),
    ...(stream?.previewImageURL ? { thumbnailUrl: stream.previewImageURL } : {}),
    ...(typeof stream?.viewersCount === 'number' ? { viewers: stream.viewersCount } : {}),
  };
}

/**
 * Marks the advertisements that Twitch inserts into a stream as gaps, so that none is captured. Detects them by
 * segment titles that begin with "Amazon", and by the class or id of date ranges. `paused`: the newest segment is
 * an advertisement.
 */
export const markAdvertisements: PreparePlaylist = (playlist) => {
  const lines = Buffer.from(playlist).toString().split(/\r?\n/);
  const breaks = lines.flatMap((line) => readBreak(line) ?? []).slice(-maxBreaks);
  const marked: string[] = [];
  let paused = false;
  let atMs = NaN;
  for (const line of lines) {
    if (line.startsWith(dateTime)) atMs = parseIsoTime(line.slice(dateTime.length)) ?? NaN;
    if (line.startsWith(information)) {
      paused = isAdvertisement(line, atMs, breaks);
      if (paused) marked.push('#EXT-X-GAP');
      atMs += Number.parseFloat(line.slice(information.length)) * 1000;
    }
    marked.push(line);
  }
  return { playlist: Buffer.from(marked.join('\n')), paused };
};

const dateTime = '#EXT-X-PROGRAM-DATE-TIME:';
const information = '#EXTINF:';

/** Maximum advertisement breaks. A playlist of half a minute has two or three. */
const maxBreaks = 20;

type Break = { fromMs: number; toMs: number };

/** Returns true for an advertisement. `atMs` is NaN if the playlist has no program date-time. */
function isAdvertisement(extinf: string, atMs: number, breaks: Break[]): boolean {
  const title = extinf.slice(extinf.indexOf(',') + 1).trim();
  return title.startsWith('Amazon') || breaks.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
}

function readBreak(line: string): Break | null {
  if (!line.startsWith('#EXT-X-DATERANGE:')) return null;
  const stitched =
    attribute(line, 'CLASS') === 'twitch-stitched-ad' || attribute(line, 'ID')?.startsWith('stitched-ad-');
  const fromMs = parseIsoTime(attribute(line, 'START-DATE') ?? '');
  if (!stitched || fromMs === undefined) return null;
  const seconds = Number(attribute(line, 'DURATION') ?? attribute(line, 'PLANNED-DURATION') ?? 0);
  return { fromMs, toMs: fromMs + (Number.isFinite(seconds) ? seconds : 0) * 1000 };
}

function attribute(line: string, name: string): string | undefined {
  return new RegExp(`[:,]${name}=(?:"([^"]*)"|([^",]*))`)
    .exec(line)
    ?.slice(1)
    .find((value) => value !== undefined);
}
