import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { livePlayer, offlinePlayer, refusedPlayer } from '../../support/fake-youtube.ts';
import { failureOf, look, never, startPlatforms, type Platforms } from './platform-world.ts';

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
afterEach(() => world.close());

describe('a broadcast on YouTube', () => {
  it('that is live is described, by its public page', async () => {
    expect(await capturer.probe(`https://youtu.be/${id}?si=x`, never)).toEqual({
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

  it('is described without viewers where its page does not tell them', async () => {
    world.youtube.viewers = undefined;
    expect((await capturer.probe(url, never)).details).not.toHaveProperty('viewers');
  });

  it('is captured from the variant that suffices', async () => {
    expect(await capturer.capture(look(url), never)).toMatchObject({ position: { segment_seconds: 5 } });
    expect(asked('/height/720/')).toHaveLength(1);
    expect(asked('/hls_playlist/')).toHaveLength(1);
  });

  const states: [string, () => Record<string, unknown> | null, object, RegExp][] = [
    [
      'ordinary',
      () => livePlayer(id, undefined, { isLive: false, isLiveContent: false }),
      notLive,
      /ordinary video/,
    ],
    ['over', () => livePlayer(id, undefined, { isLive: false }), notLive, /has ended.*recording/],
    [
      'over, with a recording to rewind in',
      () => livePlayer(id, manifestUrl(), { isPostLiveDvr: true }),
      notLive,
      /has ended/,
    ],
    ['upcoming', () => offlinePlayer(id, '1795000000'), notLive, /has not begun/],
    [
      'upcoming, a premiere',
      () => livePlayer(id, undefined, { isUpcoming: true, isLive: false }),
      notLive,
      /has not begun/,
    ],
    ['silent', () => offlinePlayer(id), offline, /sends nothing/],
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
      'for members only',
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
      'closed to the region',
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
      'behind the wall against bots',
      () => refusedPlayer('LOGIN_REQUIRED', 'Sign in to confirm you’re not a bot'),
      unreachable,
      /data centres.*WATCHPOST_YOUTUBE_COOKIES.*WATCHPOST_YOUTUBE_PROXY/,
    ],
    ['live without a playlist', () => livePlayer(id, undefined), unreachable, /not where.*PROXY/],
    [
      'to be paid for',
      () => refusedPlayer('UNPLAYABLE', 'This video requires payment to watch'),
      unreachable,
      /requires payment/,
    ],
    [
      'to be rented',
      () => refusedPlayer('UNPLAYABLE', 'Rent or buy to watch'),
      unreachable,
      /requires payment/,
    ],
    [
      'not there at the moment',
      () => refusedPlayer('UNPLAYABLE', 'This video is currently unavailable'),
      unreachable,
      /does not play the stream: This video is currently unavailable/,
    ],
    [
      'refused for a reason of its own',
      () => refusedPlayer('UNPLAYABLE', 'Blocked by the moon'),
      unreachable,
      /moon/,
    ],
  ];
  it.each(states)('that is %s is told apart', async (_, player, error, remediation) => {
    world.youtube.player = player;
    const failure = await failureOf(capturer, url);
    expect(failure).toMatchObject({ ...error, remediation: expect.stringMatching(remediation) });
  });

  it('that is not live is described all the same', async () => {
    world.youtube.player = () => offlinePlayer(id, '1795000000');
    expect(await failureOf(capturer, url)).toMatchObject({
      details: { streamId: id, title: 'Harbour live', channel: 'Harbour Cam' },
    });
  });
});

describe('of the applications to ask as', () => {
  it('the next is tried where one is not let in', async () => {
    world.youtube.player = (_, client) =>
      client === 'WEB'
        ? livePlayer(id, manifestUrl())
        : refusedPlayer('LOGIN_REQUIRED', 'Sign in to confirm you’re not a bot');
    await expect(capturer.probe(url, never)).resolves.toMatchObject({ platform: 'youtube' });
    expect(asked('/player').map(({ client }) => client)).toEqual(['VISIONOS', 'WEB']);
  });

  it('one that knows that it is not live is believed', async () => {
    world.youtube.player = () => offlinePlayer(id);
    await failureOf(capturer, url);
    expect(asked('/player')).toHaveLength(1);
  });

  it('the list is a setting', async () => {
    world.youtube.player = () => refusedPlayer('UNPLAYABLE', 'No');
    await failureOf(world.capturer({ youtube: { clients: ['TV', 'MWEB', 'WEB'] } }), url);
    expect(asked('/player').map(({ client }) => client)).toEqual(['TVHTML5', 'MWEB', 'WEB']);
  });
});

describe('a channel on YouTube', () => {
  it.each([
    ['https://www.youtube.com/@harbour/live', '/@harbour'],
    ['https://m.youtube.com/@harbour', '/@harbour'],
    ['https://www.youtube.com/c/Harbour/live', '/c/Harbour'],
    ['https://www.youtube.com/user/harbour/live', '/user/harbour'],
    ['https://www.youtube.com/channel/UC4QobU6STFB0P71PMvOGN5A/live', '/channel/UC4QobU6STFB0P71PMvOGN5A'],
  ])('%s leads to what is live there', async (page, path) => {
    world.youtube.channels.set(path, id);
    expect(await capturer.probe(page, never)).toMatchObject({ playbackUrl: url });
  });

  it('is followed to its older address', async () => {
    world.youtube.channels.set('/@harbour', 'https://www.youtube.com/harbour25');
    world.youtube.channels.set('/harbour25', id);
    expect(await capturer.probe('https://www.youtube.com/@harbour', never)).toMatchObject({
      playbackUrl: url,
    });
  });

  it.each([
    ['where nothing is live', null, offline, /Nothing is live/],
    ['that leads off YouTube', 'https://example.com/harbour', unreachable, /form/],
    ['that leads in circles', 'https://www.youtube.com/@harbour', offline, /./],
  ])('%s is refused', async (_, target, error, remediation) => {
    world.youtube.channels.set('/@harbour', target);
    const failure = await failureOf(capturer, 'https://www.youtube.com/@harbour/live');
    expect(failure).toMatchObject({ ...error, remediation: expect.stringMatching(remediation) });
    expect(asked('/resolve_url').length).toBeLessThanOrEqual(3);
  });

  it('that does not exist is told so', async () => {
    expect(await failureOf(capturer, 'https://www.youtube.com/@nobody')).toMatchObject({
      ...notLive,
      remediation: expect.stringMatching(/channel does not exist/),
    });
  });
});

describe('a page of YouTube that is never live', () => {
  it.each([
    ['https://www.youtube.com/shorts/jNQXAC9IVRw', 'NOT_LIVESTREAM', /short/],
    ['https://www.youtube.com/clip/UgkxABC', 'NOT_LIVESTREAM', /clip/],
    ['https://www.youtube.com/playlist?list=PL1', 'NOT_LIVESTREAM', /playlist/],
    ['https://www.youtube.com/results?search_query=x', 'INVALID_URL', /not one of a stream/],
  ])('%s is refused without asking', async (page, code, remediation) => {
    expect(await failureOf(capturer, page)).toMatchObject({
      code,
      remediation: expect.stringMatching(remediation),
    });
    expect(world.youtube.requests).toEqual([]);
  });
});

describe('the playlist of a broadcast', () => {
  it('is asked for once, for a probe and all captures while it lasts', async () => {
    await capturer.probe(url, never);
    for (let tick = 0; tick < 5; tick += 1) {
      world.later(600);
      await capturer.capture(look(url), never);
    }
    expect(asked('/player')).toHaveLength(1);
    expect(asked('/hls_variant/')).toHaveLength(2);
  });

  it('is renewed before it expires', async () => {
    await capturer.capture(look(url), never);
    world.later(21_540 - 299);
    world.youtube.player = () => livePlayer(id, manifestUrl());
    await capturer.capture(look(url), never);
    expect(asked('/player')).toHaveLength(2);
  });

  it('is asked for once however many captures need it at the same time', async () => {
    const looks = (['frames', 'clip', 'hybrid'] as const).map((mode) =>
      capturer.capture({ ...look(url), mode }, never),
    );
    await Promise.all(looks);
    expect(asked('/player')).toHaveLength(1);
  });

  it('is renewed at once when it is refused', async () => {
    await capturer.capture(look(url), never);
    world.youtube.revoked = [manifestUrl().split('/expire/')[1]!.split('/')[0]!];
    world.later(60);
    await expect(capturer.capture(look(url), never)).resolves.toBeDefined();
    expect(asked('/player')).toHaveLength(2);
  });

  it('is asked for anew when the last capture failed', async () => {
    await capturer.capture(look(url), never);
    await capturer.capture(look(url, true), never);
    expect(asked('/player')).toHaveLength(2);
  });

  it('that stays refused is a failed capture', async () => {
    world.youtube.revoked = ['/expire/'];
    await expect(capturer.capture(look(url), never)).rejects.toMatchObject({ code: 'STREAM_FETCH_FAILED' });
    expect(asked('/player')).toHaveLength(2);
  });

  it('that is refused because the broadcast is over ends the watch', async () => {
    await capturer.capture(look(url), never);
    world.youtube.revoked = ['/expire/'];
    world.youtube.player = () => livePlayer(id, undefined, { isLive: false });
    await expect(capturer.capture(look(url), never)).rejects.toMatchObject({ message: 'Stream has ended' });
  });
});

describe('an answer of InnerTube', () => {
  const answers: [string, (response: any) => void, RegExp][] = [
    ['of no JSON', (response) => response.end('<html>consent</html>'), /unknown format/],
    ['of another form', (response) => response.end('{"playabilityStatus":[]}'), /unknown format/],
    [
      'that is too large',
      (response) => response.end(Buffer.alloc(9 * 1024 * 1024, 32)),
      /more than is sensible/,
    ],
    ['429', (response) => response.writeHead(429).end(), /limits requests.*COOKIES.*PROXY/],
    ['403', (response) => response.writeHead(403).end(), /403.*COOKIES.*PROXY/],
    ['500', (response) => response.writeHead(500).end('{"error":{}}'), /unknown format/],
    ['that is cut off', (response) => response.socket.destroy(), /cannot be reached/],
  ];
  it.each(answers)('%s is a failure with a remediation', async (_, answer, remediation) => {
    world.youtube.intercept = (_request, response) => (answer(response), true);
    expect(await failureOf(capturer, url)).toMatchObject({
      ...unreachable,
      remediation: expect.stringMatching(remediation),
    });
  });

  it('that does not come does not hold up who has given up', async () => {
    world.youtube.intercept = () => true;
    await expect(capturer.probe(url, AbortSignal.timeout(50))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});

describe('cookies of an account', () => {
  const account = { youtube: { cookies: 'SAPISID=abc; LOGIN_INFO=def' } };

  it('go to YouTube with its calls, and not with playlists', async () => {
    await world.capturer(account).probe(url, never);
    for (const { path, headers } of world.youtube.requests) {
      expect([path, headers.cookie]).toEqual([
        path,
        path.startsWith('/youtubei/') ? account.youtube.cookies : undefined,
      ]);
    }
  });

  it('go nowhere else, where an answer leads', async () => {
    world.youtube.intercept = (request, response) =>
      request.url?.includes('/player') === true &&
      response.writeHead(307, { location: `${world.twitch.usherUrl}/stolen` }).end() === response;
    await failureOf(world.capturer(account), url);
    const stolen = world.twitch.requests.filter(({ path }) => path === '/stolen');
    expect(stolen).not.toHaveLength(0);
    for (const { headers } of stolen) {
      expect(headers.cookie).toBeUndefined();
      expect(headers.authorization).toBeUndefined();
    }
  });
});
