import { beforeEach, describe, expect, test } from 'vitest';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { livePlayer, offlinePlayer, refusedPlayer } from '../../support/platforms/fake-youtube.ts';
import { readFailure, look, never, startPlatforms, type Platforms } from './platform-world.ts';

const id = 'jNQXAC9IVRw';
const url = `https://www.youtube.com/watch?v=${id}`;
const notLive = { code: 'NOT_LIVESTREAM', message: 'URL is not a live stream' };
const offline = { code: 'NOT_LIVESTREAM', message: 'Stream is offline' };
const unreachable = { code: 'STREAM_FETCH_FAILED', message: 'Failed to fetch stream' };

let world: Platforms;
let capturer: StreamCapturer;
const manifestUrl = (seconds = 21_540) =>
  world.youtube.manifestUrl(id, new Date(world.clock.now.getTime() + seconds * 1000));
const segments = (first: number) =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXT-X-MEDIA-SEQUENCE:${first}\n#EXTINF:5.0,\nseg-${first}.ts\n`;
const asked = (part: string) => world.youtube.requests.filter(({ path }) => path.includes(part));

beforeEach(async () => {
  world = await startPlatforms();
  world.youtube.player = () => livePlayer(id, manifestUrl());
  world.youtube.media = () => segments(7);
  capturer = world.capturer();
});

describe('broadcast on YouTube', () => {
  test('a live broadcast is described with its public page', async () => {
    expect(await capturer.probe(`https://youtu.be/${id}?si=x`, never, 'ada')).toEqual({
      platform: 'youtube',
      playbackUrl: url,
      details: {
        streamId: id,
        title: 'Harbour live',
        channel: 'Harbour Cam',
        thumbnailUrl: `https://i.ytimg.com/vi/${id}/maxresdefault_live.jpg`,
        viewers: 1234,
      },
    });
  });

  test('a live broadcast is described without viewers if its page does not report them', async () => {
    world.youtube.viewers = undefined;
    expect((await capturer.probe(url, never, 'ada')).details).not.toHaveProperty('viewers');
  });

  test('a broadcast is captured from the sufficient variant', async () => {
    expect(await capturer.capture(look(url), never)).toMatchObject({ position: { segment_seconds: 5 } });
    expect(asked('/height/720/file/index.m3u8')).toHaveLength(1);
    expect(asked('/hls_playlist/').filter(({ path }) => path.endsWith('index.m3u8'))).toHaveLength(1);
  });

  const states: [string, () => Record<string, unknown> | null, object, RegExp][] = [
    [
      'ordinary',
      () => livePlayer(id, undefined, { isLive: false, isLiveContent: false }),
      notLive,
      /ordinary video/,
    ],
    ['ended', () => livePlayer(id, undefined, { isLive: false }), notLive, /has ended.*recording/],
    [
      'ended with a DVR recording',
      () => livePlayer(id, manifestUrl(), { isPostLiveDvr: true }),
      notLive,
      /has ended/,
    ],
    ['upcoming', () => offlinePlayer(id, '1795000000'), notLive, /has not started/],
    [
      'upcoming, a premiere',
      () => livePlayer(id, undefined, { isUpcoming: true, isLive: false }),
      notLive,
      /has not started/,
    ],
    ['silent', () => offlinePlayer(id), offline, /not sending video/],
    ['unknown', () => null, notLive, /video does not exist/],
    [
      'private',
      () =>
        refusedPlayer('LOGIN_REQUIRED', 'Private video', {
          subreason: 'Sign in if you have been granted access to this video',
        }),
      unreachable,
      /private.*WATCHPOST_YOUTUBE_COOKIES/,
    ],
    [
      'restricted to members',
      () =>
        refusedPlayer(
          'UNPLAYABLE',
          'Join this channel to get access to members-only content like this video.',
        ),
      unreachable,
      /members of the channel/,
    ],
    [
      'restricted by age',
      () =>
        refusedPlayer('LOGIN_REQUIRED', 'Sign in to confirm your age', {
          subreason: 'This video may be inappropriate for some users.',
        }),
      unreachable,
      /age/,
    ],
    [
      'blocked in the region',
      () =>
        refusedPlayer('UNPLAYABLE', 'Video unavailable', {
          subreason: 'The uploader has not made this video available in your country',
        }),
      unreachable,
      /region of this service.*WATCHPOST_YOUTUBE_PROXY/,
    ],
    [
      'without a recording',
      () => refusedPlayer('UNPLAYABLE', 'This live stream recording is not available.'),
      notLive,
      /has ended/,
    ],
    [
      'rejected as a bot',
      () => refusedPlayer('LOGIN_REQUIRED', 'Sign in to confirm you’re not a bot'),
      unreachable,
      /Data-center.*WATCHPOST_YOUTUBE_COOKIES.*WATCHPOST_YOUTUBE_PROXY/,
    ],
    ['live without a playlist', () => livePlayer(id, undefined), unreachable, /without its playlist.*PROXY/],
    [
      'payable',
      () => refusedPlayer('UNPLAYABLE', 'This video requires payment to watch'),
      unreachable,
      /requires payment/,
    ],
    ['for rent', () => refusedPlayer('UNPLAYABLE', 'Rent or buy to watch'), unreachable, /requires payment/],
    [
      'temporarily unavailable',
      () => refusedPlayer('UNPLAYABLE', 'This video is currently unavailable'),
      unreachable,
      /rejects this one: This video is currently unavailable/,
    ],
    [
      'rejected for an unknown reason',
      () => refusedPlayer('UNPLAYABLE', 'Blocked by the moon'),
      unreachable,
      /moon/,
    ],
  ];
  test.each(states)('a broadcast that is %s has its own error', async (_, player, error, remediation) => {
    world.youtube.player = player;
    const failure = await readFailure(capturer, url);
    expect(failure).toMatchObject({ ...error, remediation: expect.stringMatching(remediation) });
  });

  test('a broadcast that is not live is described', async () => {
    world.youtube.player = () => offlinePlayer(id, '1795000000');
    expect(await readFailure(capturer, url)).toMatchObject({
      details: { streamId: id, title: 'Harbour live', channel: 'Harbour Cam' },
    });
  });
});

describe('InnerTube clients', () => {
  test('the next client is tried if one is rejected', async () => {
    world.youtube.player = (_, client) =>
      client === 'WEB'
        ? livePlayer(id, manifestUrl())
        : refusedPlayer('LOGIN_REQUIRED', 'Sign in to confirm you’re not a bot');
    await expect(capturer.probe(url, never, 'ada')).resolves.toMatchObject({ platform: 'youtube' });
    expect(asked('/player').map(({ client }) => client)).toEqual(['VISIONOS', 'WEB']);
  });

  test('a client that reports the broadcast as not live is trusted', async () => {
    world.youtube.player = () => offlinePlayer(id);
    await readFailure(capturer, url);
    expect(asked('/player')).toHaveLength(1);
  });

  test('the list of clients is a setting', async () => {
    world.youtube.player = () => refusedPlayer('UNPLAYABLE', 'No');
    await readFailure(world.capturer({ youtube: { clients: ['TV', 'MWEB', 'WEB'] } }), url);
    expect(asked('/player').map(({ client }) => client)).toEqual(['TVHTML5', 'MWEB', 'WEB']);
  });
});

describe('channel on YouTube', () => {
  test.each([
    ['https://www.youtube.com/@harbour/live', '/@harbour'],
    ['https://m.youtube.com/@harbour', '/@harbour'],
    ['https://www.youtube.com/c/Harbour/live', '/c/Harbour'],
    ['https://www.youtube.com/user/harbour/live', '/user/harbour'],
    ['https://www.youtube.com/channel/UC4QobU6STFB0P71PMvOGN5A/live', '/channel/UC4QobU6STFB0P71PMvOGN5A'],
  ])('%s leads to its live video at %s', async (page, path) => {
    world.youtube.channels.set(path, id);
    expect(await capturer.probe(page, never, 'ada')).toMatchObject({ playbackUrl: url });
  });

  test('a channel is resolved at its older URL', async () => {
    world.youtube.channels.set('/@harbour', 'https://www.youtube.com/harbour25');
    world.youtube.channels.set('/harbour25', id);
    expect(await capturer.probe('https://www.youtube.com/@harbour', never, 'ada')).toMatchObject({
      playbackUrl: url,
    });
  });

  test.each([
    ['without a live video', null, offline, /channel is not live/],
    ['with a target outside YouTube', 'https://example.com/harbour', unreachable, /unknown format/],
    ['with a redirect loop', 'https://www.youtube.com/@harbour', offline, /./],
  ])('a channel %s is rejected', async (_, target, error, remediation) => {
    world.youtube.channels.set('/@harbour', target);
    const failure = await readFailure(capturer, 'https://www.youtube.com/@harbour/live');
    expect(failure).toMatchObject({ ...error, remediation: expect.stringMatching(remediation) });
    expect(asked('/resolve_url').length).toBeLessThanOrEqual(3);
  });

  test('a missing channel is reported as nonexistent', async () => {
    expect(await readFailure(capturer, 'https://www.youtube.com/@nobody')).toMatchObject({
      ...notLive,
      remediation: expect.stringMatching(/channel does not exist/),
    });
  });
});

describe('page of YouTube that is never live', () => {
  test.each([
    ['https://www.youtube.com/shorts/jNQXAC9IVRw', 'NOT_LIVESTREAM', /short/],
    ['https://www.youtube.com/clip/UgkxABC', 'NOT_LIVESTREAM', /clip/],
    ['https://www.youtube.com/playlist?list=PL1', 'NOT_LIVESTREAM', /playlist/],
    ['https://www.youtube.com/results?search_query=x', 'INVALID_URL', /has no stream/],
  ])('%s is rejected without a request', async (page, code, remediation) => {
    expect(await readFailure(capturer, page)).toMatchObject({
      code,
      remediation: expect.stringMatching(remediation),
    });
    expect(world.youtube.requests).toEqual([]);
  });
});

describe('playlist of a YouTube broadcast', () => {
  test('a playlist is requested once for a probe and all captures until it expires', async () => {
    await capturer.probe(url, never, 'ada');
    for (let tick = 0; tick < 5; tick += 1) {
      world.later(600);
      await capturer.capture(look(url), never);
    }
    expect(asked('/player')).toHaveLength(1);
    expect(asked('/hls_variant/')).toHaveLength(2);
  });

  test('a playlist is requested again before it expires', async () => {
    await capturer.capture(look(url), never);
    world.later(21_540 - 299);
    world.youtube.player = () => livePlayer(id, manifestUrl());
    await capturer.capture(look(url), never);
    expect(asked('/player')).toHaveLength(2);
  });

  test('concurrent captures share one request for a playlist', async () => {
    const looks = (['frames', 'clip', 'hybrid'] as const).map((mode) =>
      capturer.capture({ ...look(url), mode }, never),
    );
    await Promise.all(looks);
    expect(asked('/player')).toHaveLength(1);
  });

  test('a rejected playlist is replaced immediately', async () => {
    await capturer.capture(look(url), never);
    world.youtube.revoked = [manifestUrl().split('/expire/')[1]!.split('/')[0]!];
    world.later(60);
    await expect(capturer.capture(look(url), never)).resolves.toBeDefined();
    expect(asked('/player')).toHaveLength(2);
  });

  test('a playlist is requested again after a failed capture', async () => {
    await capturer.capture(look(url), never);
    await capturer.capture(look(url, true), never);
    expect(asked('/player')).toHaveLength(2);
  });

  test('a playlist that is rejected repeatedly is a failed capture', async () => {
    world.youtube.revoked = ['/expire/'];
    await expect(capturer.capture(look(url), never)).rejects.toMatchObject({ code: 'STREAM_FETCH_FAILED' });
    expect(asked('/player')).toHaveLength(2);
  });

  test('a playlist that is rejected after the end of its broadcast ends the stream', async () => {
    await capturer.capture(look(url), never);
    world.youtube.revoked = ['/expire/'];
    world.youtube.player = () => livePlayer(id, undefined, { isLive: false });
    await expect(capturer.capture(look(url), never)).rejects.toMatchObject({ message: 'Stream has ended' });
  });
});

describe('InnerTube response', () => {
  const answers: [string, (response: any) => void, RegExp][] = [
    ['without JSON', (response) => response.end('<html>consent</html>'), /unknown format/],
    ['of another format', (response) => response.end('{"playabilityStatus":[]}'), /unknown format/],
    ['that is too large', (response) => response.end(Buffer.alloc(9 * 1024 * 1024, 32)), /too large/],
    ['of too many levels', (response) => response.end('{"a":'.repeat(1_000_000)), /too large/],
    ['with status 429', (response) => response.writeHead(429).end(), /limits requests.*COOKIES.*PROXY/],
    ['with status 403', (response) => response.writeHead(403).end(), /403.*COOKIES.*PROXY/],
    ['with status 500', (response) => response.writeHead(500).end('{"error":{}}'), /unknown format/],
    ['that is interrupted', (response) => response.socket.destroy(), /cannot be reached/],
  ];
  test.each(answers)(
    'an InnerTube response %s is a failure with a remediation',
    async (_, answer, remediation) => {
      world.youtube.intercept = (_request, response) => (answer(response), true);
      expect(await readFailure(capturer, url)).toMatchObject({
        ...unreachable,
        remediation: expect.stringMatching(remediation),
      });
    },
  );

  test('a missing InnerTube response does not delay an aborted caller', async () => {
    world.youtube.intercept = () => true;
    await expect(capturer.probe(url, AbortSignal.timeout(50), 'ada')).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});

describe('YouTube account', () => {
  const account = { youtube: { cookies: 'SAPISID=abc; LOGIN_INFO=def' } };

  test('account cookies are sent with InnerTube calls, not with playlists', async () => {
    await world.capturer(account).probe(url, never, 'ada');
    for (const { path, headers } of world.youtube.requests) {
      expect([path, headers.cookie]).toEqual([
        path,
        path.startsWith('/youtubei/') ? account.youtube.cookies : undefined,
      ]);
    }
  });

  test('account cookies are not sent to other hosts', async () => {
    world.youtube.intercept = (request, response) =>
      request.url?.includes('/player') === true &&
      response.writeHead(307, { location: `${world.twitch.usherUrl}/stolen` }).end() === response;
    await readFailure(world.capturer(account), url);
    const stolen = world.twitch.requests.filter(({ path }) => path === '/stolen');
    expect(stolen).not.toHaveLength(0);
    for (const { headers } of stolen) {
      expect(headers.cookie).toBeUndefined();
      expect(headers.authorization).toBeUndefined();
    }
  });
});
