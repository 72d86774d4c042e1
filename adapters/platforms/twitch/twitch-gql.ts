import { z } from 'zod';
import type { GuardedHttp } from '../../egress/guarded-http.ts';
import { requestPlatform, platformBlockedError, unexpectedResponseError } from '../platform-request.ts';
import { cookieValue } from '../cookies.ts';
import type { TwitchSettings } from '../platform-settings.ts';

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

/** Playback access token with its signature. */
export type TwitchToken = NonNullable<z.infer<typeof tokenAnswerSchema>['data']['streamPlaybackAccessToken']>;
/** Channel, or `null` if it does not exist. */
export type TwitchChannel = z.infer<typeof channelAnswerSchema>['data']['user'];

/**
 * Requests a channel and its access token in one request. Uses plain queries, because the hashes of persisted ones
 * rotate. `channel` is undefined if its format is unknown: that costs the description, not the stream.
 */
export async function queryTwitch(
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
