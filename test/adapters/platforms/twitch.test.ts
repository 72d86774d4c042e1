import { beforeEach, describe, expect, test } from 'vitest';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { liveChannel, twitchPlaylist } from '../../support/platforms/fake-twitch.ts';
import { readFailure, look, never, startPlatforms, type Platforms } from './platform-world.ts';

const url = 'https://www.twitch.tv/harbour_cam';
const notLive = { code: 'NOT_LIVESTREAM', message: 'URL is not a live stream' };
const offline = { code: 'NOT_LIVESTREAM', message: 'Stream is offline' };
const unreachable = { code: 'STREAM_FETCH_FAILED', message: 'Failed to fetch stream' };

let world: Platforms;
let capturer: StreamCapturer;
const live = (first: number, count = 4) =>
  twitchPlaylist(
    Array.from({ length: count }, (_, index) => ({ uri: `v1/segment/${first + index}.ts` })),
    { sequence: first },
  );
const withAdvertisement = (advertisement: 'titled' | 'by date') =>
  twitchPlaylist([
    { uri: '100.ts' },
    { uri: '101.ts' },
    { uri: 'ad-1.ts', advertisement },
    { uri: 'ad-2.ts', advertisement },
  ]);
const asked = (part: string) => world.twitch.requests.filter(({ path }) => path.includes(part));
const answerWith = (status: number, body: string) => {
  world.twitch.intercept = (request, response) =>
    request.url === '/gql' && response.writeHead(status).end(body) === response;
};

beforeEach(async () => {
  world = await startPlatforms();
  world.twitch.media = () => live(100);
  capturer = world.capturer();
});

describe('channel on Twitch', () => {
  test('a live channel is described with its public page', async () => {
    expect(await capturer.probe('https://m.twitch.tv/Harbour_Cam/?referrer=raid', never, 'ada')).toEqual({
      platform: 'twitch',
      playbackUrl: url,
      details: {
        streamId: '40875234511',
        title: 'Harbour live',
        channel: 'Harbour_Cam',
        thumbnailUrl: 'https://static-cdn.jtvnw.net/previews-ttv/live_user_harbour_cam-640x360.jpg',
        viewers: 321,
      },
    });
  });

  test('a channel is captured from the sufficient variant, without prefetched segments', async () => {
    const { position } = await capturer.capture(look(url), never);
    expect(position.segment).toMatch(/^103:/);
    expect(asked('720p60.m3u8')).toHaveLength(1);
  });

  test('a channel with a token but no description is live', async () => {
    world.twitch.channels.set('harbour_cam', { stream: { id: 7 as never, type: 'live' } });
    expect((await capturer.probe(url, never, 'ada')).details).toEqual({});
  });

  const states: [string, () => void, object, RegExp][] = [
    ['offline', () => world.twitch.channels.set('harbour_cam', { stream: null }), offline, /is not live/],
    ['unknown', () => world.twitch.channels.clear(), notLive, /channel does not exist/],
    [
      'showing a rerun',
      () => world.twitch.channels.set('harbour_cam', { stream: { id: '7', type: 'rerun' } }),
      notLive,
      /rerun/,
    ],
    [
      'blocked in the region, by its token',
      () => (world.twitch.token = { ci_gb: true, geoblock_reason: 'anonymizer_blocked' }),
      unreachable,
      /region.*WATCHPOST_TWITCH_PROXY/,
    ],
    [
      'blocked in the region, by usher',
      () => refuse(403, '[{"error":"Content Restricted In Region","error_code":"content_geoblocked"}]'),
      unreachable,
      /region.*WATCHPOST_TWITCH_PROXY/,
    ],
    [
      'restricted to subscribers, by usher',
      () => refuse(403, '[{"error":"x","error_code":"unauthorized_entitlements"}]'),
      unreachable,
      /subscribers.*WATCHPOST_TWITCH_COOKIES/,
    ],
    [
      'not public, by its token',
      () => (world.twitch.token = { private: { allowed_to_view: false } }),
      unreachable,
      /not public/,
    ],
    ['live without a token', () => (world.twitch.token = null), unreachable, /no access token.*PROXY/],
    [
      'offline at the usher request',
      () => refuse(404, '[{"error":"Can not find channel","error_code":"twirp_not_found"}]'),
      offline,
      /is not live/,
    ],
    [
      'rejected by usher without a reason',
      () => refuse(403, 'no'),
      unreachable,
      /rejects the playlist.*COOKIES/,
    ],
    ['live during a failure of usher', () => refuse(503, ''), unreachable, /503/],
  ];
  const refuse = (status: number, body: string) => (world.twitch.usherRefuses = { status, body });
  test.each(states)('a channel that is %s has its own error', async (_, prepare, error, remediation) => {
    prepare();
    const failure = await readFailure(capturer, url);
    expect(failure).toMatchObject({ ...error, remediation: expect.stringMatching(remediation) });
  });

  test('an offline channel is described', async () => {
    world.twitch.channels.set('harbour_cam', { ...liveChannel, stream: null });
    expect((await readFailure(capturer, url)).details).toEqual({
      title: 'Harbour live',
      channel: 'Harbour_Cam',
    });
  });
});

describe('page of Twitch that is never live', () => {
  test.each([
    ['https://www.twitch.tv/videos/635475444', 'NOT_LIVESTREAM', /past broadcast/],
    ['https://clips.twitch.tv/FaintLightGull', 'NOT_LIVESTREAM', /clip/],
    ['https://www.twitch.tv/harbour_cam/clip/Faint', 'NOT_LIVESTREAM', /clip/],
    ['https://www.twitch.tv/directory', 'INVALID_URL', /has no stream/],
  ])('%s is rejected without a request', async (page, code, remediation) => {
    expect(await readFailure(capturer, page)).toMatchObject({
      code,
      remediation: expect.stringMatching(remediation),
    });
    expect(world.twitch.requests).toEqual([]);
  });
});

describe('advertisements on Twitch', () => {
  test.each(['titled', 'by date'] as const)(
    'an advertisement that is marked %s is not captured',
    async (advertisement) => {
      world.twitch.media = () => withAdvertisement(advertisement);
      await expect(capturer.capture(look(url), never)).rejects.toMatchObject({
        name: 'StreamPausedError',
        remediation: expect.stringMatching(/advertisement/),
      });
    },
  );

  test('a channel with an advertisement is live', async () => {
    world.twitch.media = () => withAdvertisement('titled');
    await expect(capturer.probe(url, never, 'ada')).resolves.toMatchObject({ platform: 'twitch' });
  });

  test('a past advertisement is omitted from a clip', async () => {
    world.twitch.media = () =>
      twitchPlaylist([{ uri: 'ad.ts', advertisement: 'titled' }, { uri: '101.ts' }, { uri: '102.ts' }]);
    const { position } = await capturer.capture({ ...look(url), mode: 'clip', clipSeconds: 30 }, never);
    expect(position.segment).toMatch(/^102:/);
  });

  test('the playlist is kept during an advertisement, because a new one starts with another', async () => {
    world.twitch.media = () => withAdvertisement('titled');
    for (let tick = 0; tick < 3; tick += 1) await capturer.capture(look(url), never).catch(() => undefined);
    world.twitch.media = () => live(110);
    await capturer.capture(look(url), never);
    expect(asked('/gql')).toHaveLength(1);
    const paths = asked('/v1/playlist/').map(({ path }) => path);
    expect(new Set(paths.filter((path) => !path.endsWith('.ts'))).size).toBe(1);
  });
});

describe('playlist of a Twitch channel', () => {
  test('a playlist outlives its access token', async () => {
    await capturer.capture(look(url), never);
    world.later(5 * 3600);
    await capturer.capture(look(url), never);
    expect(asked('/gql')).toHaveLength(1);
  });

  test('a playlist is requested with a new token before the old one expires', async () => {
    await capturer.capture(look(url), never);
    world.later(1200 - 299);
    await capturer.capture({ ...look(url), mode: 'clip' }, never);
    expect(asked('/gql')).toHaveLength(2);
  });

  test('a missing playlist is replaced immediately', async () => {
    await capturer.capture(look(url), never);
    const [first] = asked('/v1/playlist/');
    world.twitch.gone = [first!.path];
    await expect(capturer.capture(look(url), never)).resolves.toBeDefined();
  });

  test('a playlist that is missing after the end of its broadcast ends the stream', async () => {
    await capturer.capture(look(url), never);
    world.twitch.gone = ['/v1/playlist/'];
    world.twitch.channels.set('harbour_cam', { stream: null });
    await expect(capturer.capture(look(url), never)).rejects.toMatchObject({ message: 'Stream has ended' });
  });

  test('a playlist with ENDLIST ends the stream', async () => {
    world.twitch.media = () => twitchPlaylist([{ uri: '100.ts' }], { ended: true });
    await expect(capturer.capture(look(url), never)).rejects.toMatchObject({ message: 'Stream has ended' });
  });
});

describe('GraphQL response of Twitch', () => {
  const rejected = '[{"errors":[{"message":"failed integrity check"}],"data":null},{"data":{"user":null}}]';
  test.each([
    ['without JSON', 200, 'hello', /unknown format/],
    ['with one object', 200, '{"error":"Bad Request"}', /unknown format/],
    ['with other fields', 200, '[{"data":{}},{"data":{}}]', /unknown format/],
    ['with an integrity error', 200, rejected, /browser integrity check.*COOKIES.*PROXY/],
    [
      'with status 400',
      400,
      '{"error":"Bad Request","message":"The \\"Client-ID\\" header is invalid."}',
      /400/,
    ],
    ['with status 429', 429, '', /limits requests.*PROXY/],
    ['that is too large', 200, ' '.repeat(9 * 1024 * 1024), /too large/],
    ['of too many levels', 200, '['.repeat(1_000_000), /too large/],
    ['of too many values', 200, `[${'0,'.repeat(500_001)}0]`, /too large/],
  ])('a GraphQL response %s is a failure with a remediation', async (_, status, body, remediation) => {
    answerWith(status, body);
    expect(await readFailure(capturer, url)).toMatchObject({
      ...unreachable,
      remediation: expect.stringMatching(remediation),
    });
  });
});

describe('Twitch account', () => {
  test('account cookies are sent only to the GraphQL endpoint', async () => {
    const cookies = 'unique_id=1; auth-token=secret123';
    await world.capturer({ twitch: { cookies } }).probe(url, never, 'ada');
    const [gql, ...others] = world.twitch.requests;
    expect(gql?.headers).toMatchObject({
      authorization: 'OAuth secret123',
      'client-id': expect.stringMatching(/^\w{30}$/),
    });
    for (const { headers } of others)
      expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
    expect(others).not.toHaveLength(0);
  });
});
