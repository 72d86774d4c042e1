import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openLocally } from '../servers/local-server.ts';

/** Local server with the parts of Twitch's GraphQL and usher that the tests use. Contains no data from Twitch. */

export type FakeTwitch = {
  gqlUrl: string;
  usherUrl: string;
  /** Channels by login; an absent login is an unknown user. */
  channels: Map<string, FakeChannel>;
  /** Fields of the access token beside its defaults; `null` for no token. */
  token: Record<string, unknown> | null;
  /** Validity of tokens, by the clock of this server. */
  now: () => Date;
  /** Returns the media playlist, with absolute or relative segment URIs. */
  media: (login: string) => string | Promise<string>;
  /** Text in the URL of media playlists that return 404. */
  gone: string[];
  usherRefuses: { status: number; body: string } | undefined;
  /** Optional response that replaces all others. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  requests: { path: string; query: URLSearchParams; headers: IncomingMessage['headers']; body: string }[];
  close(): Promise<void>;
};

export type FakeChannel = {
  displayName?: string;
  title?: string;
  stream: { id: string; type: string; viewersCount?: number } | null;
};

export const liveChannel: FakeChannel = {
  displayName: 'Harbour_Cam',
  title: 'Harbour live',
  stream: { id: '40875234511', type: 'live', viewersCount: 321 },
};

export async function startFakeTwitch(): Promise<FakeTwitch> {
  const server = createServer((request, response) => void answer(request, response));
  const local = await openLocally(server);
  const url = local.url('');
  let sessions = 0;
  const fake: FakeTwitch = {
    gqlUrl: `${url}/gql`,
    usherUrl: url,
    channels: new Map([['harbour_cam', liveChannel]]),
    token: {},
    now: () => new Date(),
    media: () => '#EXTM3U\n#EXT-X-TARGETDURATION:6\n',
    gone: [],
    usherRefuses: undefined,
    intercept: () => false,
    requests: [],
    close: local.close,
  };
  return fake;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', url);
    const body = await readText(request);
    fake.requests.push({ path, query, headers: request.headers, body });
    if (fake.intercept(request, response)) return;
    if (path === '/gql') return gql(response, body);
    const login = /^\/api\/v2\/channel\/hls\/(\w+)\.m3u8$/.exec(path)?.[1];
    if (login !== undefined) return usher(response, login, query);
    if (path.startsWith('/v1/playlist/')) return playlist(response, path);
    response.writeHead(404).end();
  }

  function gql(response: ServerResponse, body: string): void {
    const answers = JSON.parse(body).map((operation: { query: string; variables: { login: string } }) => {
      const login = operation.variables.login;
      const data = operation.query.includes('streamPlaybackAccessToken')
        ? { streamPlaybackAccessToken: accessToken(login) }
        : { user: user(login) };
      return { data, extensions: { durationMilliseconds: 12, requestID: '01HXYZ' } };
    });
    json(response, 200, answers);
  }

  function accessToken(login: string) {
    if (fake.token === null || !fake.channels.has(login)) return null;
    const value = {
      adblock: false,
      authorization: { forbidden: false, reason: '' },
      blackout_enabled: false,
      channel: login,
      channel_id: 40934651,
      chansub: { restricted_bitrates: [], view_until: 1924905600 },
      ci_gb: false,
      geoblock_reason: '',
      device_id: null,
      expires: Math.floor(fake.now().getTime() / 1000) + 1200,
      extended_history_allowed: false,
      hide_ads: false,
      https_required: true,
      mature: false,
      platform: 'web',
      player_type: 'site',
      private: { allowed_to_view: true },
      privileged: false,
      role: '',
      server_ads: true,
      show_ads: true,
      subscriber: false,
      turbo: false,
      user_id: null,
      user_ip: '203.0.113.7',
      version: 2,
      ...fake.token,
    };
    return { value: JSON.stringify(value), signature: 'd41d8cd98f00b204e9800998ecf8427e' };
  }

  function user(login: string) {
    const channel = fake.channels.get(login);
    if (channel === undefined) return null;
    const { displayName = login, title = '', stream } = channel;
    const preview = `https://static-cdn.jtvnw.net/previews-ttv/live_user_${login}-640x360.jpg`;
    return {
      displayName,
      broadcastSettings: { title },
      stream: stream && { title, viewersCount: null, previewImageURL: preview, ...stream },
    };
  }

  function usher(response: ServerResponse, login: string, query: URLSearchParams): void {
    if (fake.usherRefuses) {
      return void response.writeHead(fake.usherRefuses.status).end(fake.usherRefuses.body);
    }
    const token = JSON.parse(query.get('token') ?? '{}');
    if (token.channel !== login || token.expires * 1000 < fake.now().getTime()) {
      return json(response, 403, [
        { error: 'Token expired', error_code: 'nauth_token_expired', type: 'error' },
      ]);
    }
    if (!fake.channels.get(login)?.stream) {
      return json(response, 404, [
        { error: 'Can not find channel', error_code: 'twirp_not_found', type: 'error' },
      ]);
    }
    sessions += 1;
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    response.end(multivariant(`${url}/v1/playlist/session-${sessions}-${login}`));
  }

  async function playlist(response: ServerResponse, path: string): Promise<void> {
    if (fake.gone.some((part) => path.includes(part))) return void response.writeHead(404).end();
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    response.end(await fake.media(/session-\d+-(\w+?)-/.exec(path)?.[1] ?? ''));
  }
}

/**
 * Returns a media playlist as Twitch writes it: with prefetched segments at its end and optional stitched
 * advertisements.
 */
export function twitchPlaylist(
  segments: { uri: string; advertisement?: 'titled' | 'by date' }[],
  options: { sequence?: number; startsAt?: Date; ended?: boolean } = {},
): string {
  const { sequence = 100, startsAt = new Date('2026-11-20T12:00:00Z') } = options;
  const at = (index: number) => new Date(startsAt.getTime() + index * 2000).toISOString();
  const first = segments.findIndex(({ advertisement }) => advertisement);
  const stitched = segments.filter(({ advertisement }) => advertisement).length;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:3',
    '#EXT-X-TARGETDURATION:6',
    `#EXT-X-MEDIA-SEQUENCE:${sequence}`,
    '#EXT-X-TWITCH-LIVE-SEQUENCE:100',
    `#EXT-X-TWITCH-ELAPSED-SECS:${sequence * 2}.000`,
    '#EXT-X-TWITCH-TOTAL-SECS:3600.000',
    `#EXT-X-DATERANGE:ID="playlist-session-1",CLASS="twitch-session",START-DATE="${at(0)}",END-ON-NEXT=YES,X-TV-TWITCH-SESSIONID="1"`,
  ];
  if (first >= 0) {
    lines.push(
      `#EXT-X-DATERANGE:ID="stitched-ad-1",CLASS="twitch-stitched-ad",START-DATE="${at(first)}",DURATION=${stitched * 2}.000,X-TV-TWITCH-AD-ROLL-TYPE="MIDROLL",X-TV-TWITCH-AD-POD-LENGTH="1"`,
    );
  }
  segments.forEach(({ uri, advertisement }, index) => {
    if (index > 0 && Boolean(advertisement) !== Boolean(segments[index - 1]?.advertisement))
      lines.push('#EXT-X-DISCONTINUITY');
    const title = advertisement === 'titled' ? 'Amazon|987654321' : advertisement ? '' : 'live';
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${at(index)}`, `#EXTINF:2.000,${title}`, uri);
  });
  if (options.ended) lines.push('#EXT-X-ENDLIST');
  else lines.push('#EXT-X-TWITCH-PREFETCH:https://video-edge.example/v1/segment/next.ts');
  return `${lines.join('\n')}\n`;
}

function multivariant(playlistUrl: string): string {
  const variant = (group: string, name: string, size: string, bandwidth: number) => [
    `#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="${group}",NAME="${name}",AUTOSELECT=YES,DEFAULT=YES`,
    `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=${size},CODECS="avc1.4D401F,mp4a.40.2",VIDEO="${group}",FRAME-RATE=30.000`,
    `${playlistUrl}-${group}.m3u8`,
  ];
  return [
    '#EXTM3U',
    '#EXT-X-TWITCH-INFO:NODE="video-edge-1.fra05",MANIFEST-NODE-TYPE="weaver_cluster",SUPPRESS="true",SERVER-TIME="1763640000.00",TRANSCODESTACK="2023-Transcode-V2",USER-IP="203.0.113.7",SERVING-ID="1",CLUSTER="fra05",ABS="false",STREAM-TIME="3600.0",B="false",USER-COUNTRY="DE",MANIFEST-CLUSTER="fra05"',
    ...variant('chunked', '1080p60 (source)', '1920x1080', 6_600_000),
    ...variant('720p60', '720p60', '1280x720', 3_400_000),
    ...variant('480p30', '480p', '852x480', 1_400_000),
    ...variant('160p30', '160p', '284x160', 230_000),
    '#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="audio_only",NAME="audio_only",AUTOSELECT=NO,DEFAULT=NO',
    '#EXT-X-STREAM-INF:BANDWIDTH=160000,CODECS="mp4a.40.2",VIDEO="audio_only"',
    `${playlistUrl}-audio_only.m3u8`,
    '',
  ].join('\n');
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
