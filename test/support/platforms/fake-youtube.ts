import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openLocally } from '../servers/local-server.ts';

/** Local server with the parts of InnerTube and the HLS manifests that the tests use. Contains no data from YouTube. */

export type FakeYoutube = {
  url: string;
  /** Returns the `/player` response by video id and client; `null` for `ERROR`. */
  player: (videoId: string, client: string) => Record<string, unknown> | null;
  /**
   * Live video by channel path (`/@handle`): video id, `null` for none, or another path; an absent path returns 404.
   */
  channels: Map<string, string | null>;
  viewers: string | undefined;
  /** Returns the media playlist, with absolute or relative segment URIs. */
  media: () => string | Promise<string>;
  /** Text in the URL of manifests that return 403. */
  revoked: string[];
  /** Optional response that replaces all others. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  requests: { path: string; client?: string; headers: IncomingMessage['headers'] }[];
  /** Returns the URL of a manifest that expires at the given time. */
  manifestUrl(videoId: string, expiresAt: Date): string;
  close(): Promise<void>;
};

export async function startFakeYoutube(): Promise<FakeYoutube> {
  const server = createServer((request, response) => void answer(request, response));
  const local = await openLocally(server);
  const url = local.url('');
  const fake: FakeYoutube = {
    url,
    player: () => null,
    channels: new Map(),
    viewers: '1234',
    media: () => '#EXTM3U\n#EXT-X-TARGETDURATION:5\n',
    revoked: [],
    intercept: () => false,
    requests: [],
    manifestUrl: (videoId, expiresAt) =>
      `${url}/api/manifest/hls_variant/expire/${Math.floor(expiresAt.getTime() / 1000)}/ei/abc/ip/203.0.113.7/id/${videoId}.1/source/yt_live_broadcast/requiressl/yes/playlist_type/DVR/sparams/expire,ei,ip,id/sig/AJfQdSs/file/index.m3u8`,
    close: local.close,
  };
  return fake;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', url).pathname;
    const body = JSON.parse((await readText(request)) || '{}');
    const client: string | undefined = body.context?.client?.clientName;
    fake.requests.push({ path, headers: request.headers, ...(client === undefined ? {} : { client }) });
    if (fake.intercept(request, response)) return;
    switch (path) {
      case '/youtubei/v1/player':
        return json(response, 200, fake.player(body.videoId, client ?? '') ?? gone);
      case '/youtubei/v1/next':
        return json(response, 200, watchPage(fake.viewers));
      case '/youtubei/v1/navigation/resolve_url':
        return resolveUrl(response, new URL(body.url).pathname);
    }
    if (path.startsWith('/api/manifest/')) return manifest(response, path);
    response.writeHead(404).end();
  }

  function resolveUrl(response: ServerResponse, path: string): void {
    const found = fake.channels.get(decodeURIComponent(path).replace(/\/live$/, ''));
    if (found === undefined) {
      return json(response, 404, {
        error: { code: 404, message: 'Requested entity was not found.', status: 'NOT_FOUND' },
      });
    }
    const endpoint = found?.startsWith('http')
      ? { urlEndpoint: { url: found } }
      : found
        ? { watchEndpoint: { videoId: found } }
        : { browseEndpoint: { browseId: 'UC4QobU6STFB0P71PMvOGN5A' } };
    json(response, 200, { responseContext: {}, endpoint: { clickTrackingParams: 'CAA=', ...endpoint } });
  }

  async function manifest(response: ServerResponse, path: string): Promise<void> {
    if (fake.revoked.some((part) => path.includes(part))) return void response.writeHead(403).end();
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    if (path.includes('/hls_playlist/')) return void response.end(await fake.media());
    const variant = (itag: number, height: number) =>
      `${url}${path.replace('hls_variant', 'hls_playlist').replace('/file/', `/itag/${itag}/height/${height}/file/`)}`;
    response.end(multivariant(variant));
  }
}

/** Returns the `/player` response of a live broadcast. */
export function livePlayer(videoId: string, hlsManifestUrl: string | undefined, video: object = {}) {
  return createPlayer(
    { status: 'OK', playableInEmbed: true, miniplayer: {}, contextParams: 'Q0FFU0FnZ0I=' },
    {
      videoId,
      title: 'Harbour live',
      lengthSeconds: '0',
      isLive: true,
      channelId: 'UC4QobU6STFB0P71PMvOGN5A',
      isOwnerViewing: false,
      shortDescription: 'The harbour, day and night.',
      isCrawlable: true,
      isLiveDvrEnabled: true,
      thumbnail: {
        thumbnails: [
          { url: `https://i.ytimg.com/vi/${videoId}/default_live.jpg`, width: 120, height: 90 },
          { url: `https://i.ytimg.com/vi/${videoId}/maxresdefault_live.jpg`, width: 1280, height: 720 },
          { url: `https://i.ytimg.com/vi/${videoId}/hqdefault_live.jpg`, width: 480, height: 360 },
        ],
      },
      liveChunkReadahead: 2,
      allowRatings: true,
      viewCount: '99999',
      author: 'Harbour Cam',
      isPrivate: false,
      isUnpluggedCorpus: false,
      isLiveContent: true,
      ...video,
    },
    {
      expiresInSeconds: '21540',
      adaptiveFormats: [{ itag: 136, mimeType: 'video/mp4; codecs="avc1.4d401f"', width: 1280, height: 720 }],
      dashManifestUrl: 'https://manifest.googlevideo.com/api/manifest/dash/expire/1',
      ...(hlsManifestUrl === undefined ? {} : { hlsManifestUrl }),
    },
  );
}

/** Returns the `/player` response of a video that cannot be played. */
export function refusedPlayer(
  status: string,
  reason: string,
  more: { subreason?: string; video?: object } = {},
) {
  const runs = more.subreason?.split(/(?= country)/).map((text) => ({ text }));
  return createPlayer(
    {
      status,
      reason,
      errorScreen: {
        playerErrorMessageRenderer: {
          ...(runs ? { subreason: { runs } } : {}),
          reason: { simpleText: reason },
          thumbnail: { thumbnails: [] },
          icon: { iconType: 'ERROR_OUTLINE' },
        },
      },
      contextParams: 'Q0FFU0FnZ0I=',
    },
    more.video,
  );
}

/** Returns the `/player` response of an offline or scheduled broadcast. */
export function offlinePlayer(videoId: string, scheduledStartTime?: string) {
  return createPlayer(
    {
      status: 'LIVE_STREAM_OFFLINE',
      reason: scheduledStartTime ? 'This live event will begin in 3 hours.' : 'We are offline',
      playableInEmbed: true,
      ...(scheduledStartTime && {
        liveStreamability: {
          liveStreamabilityRenderer: {
            videoId,
            offlineSlate: {
              liveStreamOfflineSlateRenderer: {
                scheduledStartTime,
                mainText: { runs: [{ text: 'Live in ' }] },
              },
            },
            pollDelayMs: '15000',
          },
        },
      }),
    },
    { videoId, title: 'Harbour live', author: 'Harbour Cam', isLiveContent: true },
  );
}

function createPlayer(playabilityStatus: object, videoDetails?: object, streamingData?: object) {
  return {
    responseContext: { visitorData: 'CgtBQkM%3D', serviceTrackingParams: [] },
    playabilityStatus,
    ...(streamingData && { streamingData }),
    ...(videoDetails && { videoDetails }),
    playbackTracking: {},
    trackingParams: 'CAAQu2kiEwi',
  };
}

const gone = refusedPlayer('ERROR', 'Video unavailable', { subreason: 'This video has been removed' });

function watchPage(viewers: string | undefined) {
  const videoViewCountRenderer = {
    viewCount: { runs: [{ text: viewers }, { text: ' watching now' }] },
    isLive: true,
    originalViewCount: viewers,
  };
  const primary = { title: { runs: [{ text: 'Harbour live' }] }, viewCount: { videoViewCountRenderer } };
  const contents = [
    { itemSectionRenderer: { contents: [] } },
    ...(viewers === undefined ? [] : [{ videoPrimaryInfoRenderer: primary }]),
  ];
  return { contents: { twoColumnWatchNextResults: { results: { results: { contents } } } } };
}

function multivariant(url: (itag: number, height: number) => string): string {
  const sizes = [
    [93, 640, 360, 962_000],
    [94, 854, 480, 1_500_000],
    [95, 1280, 720, 2_700_000],
    [96, 1920, 1080, 4_800_000],
  ] as const;
  const variants = sizes.flatMap(([itag, width, height, bandwidth]) => [
    `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},CODECS="mp4a.40.2,avc1.4D401F",RESOLUTION=${width}x${height},FRAME-RATE=30,VIDEO-RANGE=SDR,CLOSED-CAPTIONS=NONE`,
    url(itag, height),
  ]);
  return ['#EXTM3U', '#EXT-X-INDEPENDENT-SEGMENTS', ...variants, ''].join('\n');
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
