import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard, type Address, type EgressGuard } from '../../../../../adapters/egress/guard.ts';
import {
  describeRtsp,
  type DescribedStream,
} from '../../../../../adapters/media/rtsp/connection/describe.ts';
import { InvalidUrlError, NotLiveError, StreamError, StreamFetchError } from '../../../../../core/errors.ts';
import { startGstRtspServer, type GstRtspServer } from '../../../../support/rtsp/gst-rtsp-server.ts';
import {
  liveSdp,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedRequest,
} from '../../../../support/rtsp/scripted-server.ts';

const open = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
async function describeStream(
  url: string,
  guard: EgressGuard = open,
  signal = new AbortController().signal,
  answerTimeoutMs = 5_000,
): Promise<DescribedStream> {
  const stream = await describeRtsp({ url: url, caller: 'ada' }, { guard, answerTimeoutMs }, signal);
  onTestFinished(() => stream.client.close());
  return stream;
}

async function scripted(answer: (request: ScriptedRequest, url: string, socket: Socket) => ScriptedAnswer) {
  const server = await startScriptedServer(answer);
  onTestFinished(() => server.close());
  return server;
}

/** Responds to OPTIONS like any server, and to DESCRIBE as specified. */
const respondWith =
  (describe: ScriptedAnswer) =>
  ({ method }: ScriptedRequest): ScriptedAnswer =>
    method === 'OPTIONS' ? { status: 200 } : describe;

const sdp = (body: string, headers = {}): ScriptedAnswer => ({
  status: 200,
  headers: { 'Content-Type': 'application/sdp', ...headers },
  body,
});

async function failure(url: string, guard = open, answerTimeoutMs = 5_000): Promise<StreamError> {
  const { signal } = new AbortController();
  const error: unknown = await describeStream(url, guard, signal, answerTimeoutMs).then(
    () => new Error('Expected an error'),
    (error: unknown) => error,
  );
  if (!(error instanceof StreamError)) throw error;
  return error;
}

function withUser(url: string, user: string): string {
  return url.replace('rtsp://', `rtsp://${user}@`);
}

describe('describeRtsp with authentication', () => {
  let servers: Record<'basic' | 'digest', GstRtspServer>;
  beforeAll(async () => {
    const [basic, digestAuth] = await Promise.all(
      ['basic', 'digest'].map((auth) => startGstRtspServer('--auth', auth, '--password', 'p@ss:w%rd')),
    );
    servers = { basic: basic!, digest: digestAuth! };
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.close()));
  });

  test.each(['basic', 'digest'] as const)(
    'a password (%s) is used, or rejected and not shown',
    async (auth) => {
      const { url } = servers[auth];
      const { track, target } = await describeStream(withUser(url, 'viewer:p%40ss%3Aw%25rd'));
      expect(track).toMatchObject({ codec: 'H264', controlUrl: `${url}/stream=0` });
      expect(target.url).toBe(url);
      const error = await failure(withUser(url, 'viewer:wrongest'));
      expect(error).toBeInstanceOf(StreamFetchError);
      expect(error.remediation).toContain('rejected the user name and password');
      expect(`${error.message}${error.remediation}`).not.toContain('wrongest');
    },
  );

  test('a missing password is requested in the remediation', async () => {
    expect((await failure(servers.digest.url)).remediation).toContain('rtsp://USER:PASSWORD@host');
  });

  test('a wrong path is reported as not found', async () => {
    const error = await failure(
      withUser(servers.basic.url, 'viewer:p%40ss%3Aw%25rd').replace('/live', '/none'),
    );
    expect(error).toBeInstanceOf(StreamFetchError);
    expect(error.remediation).toContain('no stream at this path');
  });
});

describe('describeRtsp', () => {
  test.each([
    ['relative to the requested URL', 'track1', {}, (url: string) => `${url}/track1`],
    [
      'relative to Content-Base',
      'track1',
      { 'Content-Base': 'rtsp://x/base/' },
      () => 'rtsp://x/base/track1',
    ],
    [
      'relative to Content-Location',
      'track1',
      { 'Content-Location': 'rtsp://x/a' },
      () => 'rtsp://x/a/track1',
    ],
    ['absolute', 'rtsp://x/cam/track1', {}, () => 'rtsp://x/cam/track1'],
  ])('the control URL of a track may be %s', async (_, control, headers, expected) => {
    const body = liveSdp.replace('control:track1', `control:${control}`);
    const { url } = await scripted(respondWith(sdp(body, headers)));
    expect((await describeStream(url)).track.controlUrl).toBe(expected(url));
  });

  test('a stream is described by its whole URL without the credentials', async () => {
    const server = await scripted(respondWith(sdp(liveSdp)));
    await describeStream(`${withUser(server.url, 'u:p')}?channel=1&subtype=0#x`);
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
      ['OPTIONS', `${server.url}?channel=1&subtype=0`],
      ['DESCRIBE', `${server.url}?channel=1&subtype=0`],
    ]);
  });

  test('a stream is connected to at the checked address, which is resolved once', async () => {
    const server = await scripted(respondWith(sdp(liveSdp)));
    const lookups: string[] = [];
    const lookup = (host: string): Promise<Address[]> => {
      lookups.push(host);
      return Promise.resolve([{ address: lookups.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
    };
    const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'], lookup });
    const { target } = await describeStream(server.url.replace('127.0.0.1', 'cam.example'), guard);
    expect([target.host, lookups]).toEqual(['cam.example', ['cam.example']]);
  });

  test('a new nonce is used if the old one is stale', async () => {
    let nonce = 0;
    const server = await scripted((request) => {
      if (request.method === 'OPTIONS') return { status: 200 };
      if (request.header('authorization')?.includes('nonce="2"') === true) return sdp(liveSdp);
      nonce += 1;
      return {
        status: 401,
        headers: { 'WWW-Authenticate': `Digest realm="r", nonce="${nonce}", stale=${nonce > 1}` },
      };
    });
    await describeStream(withUser(server.url, 'u:p'));
    expect(server.requests.filter(({ method }) => method === 'DESCRIBE')).toHaveLength(3);
  });

  test('a described stream is closed when the caller aborts', async () => {
    const { url } = await scripted(respondWith(sdp(liveSdp)));
    const controller = new AbortController();
    const { client } = await describeStream(url, open, controller.signal);
    const ended = new Promise<void>((resolve) => client.onEnd(() => resolve()));
    controller.abort();
    await ended;
  });
});

describe('describeRtsp of an unusable stream', () => {
  test('a recording is rejected as not live', async () => {
    const { url } = await scripted(respondWith(sdp(liveSdp.replace('npt=now-', 'npt=0-20'))));
    expect(await failure(url)).toBeInstanceOf(NotLiveError);
  });

  test.each(['OPTIONS', 'DESCRIBE'])('a redirect on %s is rejected', async (redirected) => {
    const target = await scripted(respondWith(sdp(liveSdp)));
    const { url } = await scripted(({ method }) => {
      const status = method === redirected ? 302 : 200;
      return { status, headers: { Location: target.url } };
    });
    expect((await failure(url)).remediation).toContain('redirects');
    expect(target.requests).toEqual([]);
  });

  test('a server that accepts the connection and sends nothing times out', async () => {
    const { url } = await scripted(() => null);
    const error = await failure(url, open, 200);
    expect(error).toBeInstanceOf(StreamFetchError);
    expect(error.remediation).toContain('did not respond');
  });

  const redirect = 'REDIRECT rtsp://x/ RTSP/1.0\r\nCSeq: 1\r\nLocation: rtsp://x/\r\n\r\n';
  const tooLarge = 'above 32 kB, or a body above 64 kB';

  test.each<[string, string, ScriptedAnswer]>([
    ['a REDIRECT request', 'redirects', { raw: redirect }],
    ['a redirect with 305', 'redirects', { status: 305, headers: { Location: 'rtsp://x/' } }],
    ['HTTP', 'uses HTTP, not RTSP', { raw: 'HTTP/1.1 400 Bad Request\r\n\r\n' }],
    ['no description', 'does not use RTSP', { status: 200 }],
    ['a description that is too large', tooLarge, sdp(`${liveSdp}${'a=x:y\r\n'.repeat(10_000)}`)],
    ['a head that is too large', tooLarge, sdp(liveSdp, { Server: 'x'.repeat(40_000) })],
    ['sound only', 'no video', sdp('v=0\r\nm=audio 0 RTP/AVP 8\r\n')],
    ['status 404', 'no stream at this path', { status: 404 }],
    ['status 453', 'no bandwidth for another viewer', { status: 453 }],
    ['status 503', 'does not say why', { status: 503 }],
    ['status 500', 'status 500', { status: 500 }],
  ])('a response with %s is explained: %s', async (_, text, answer) => {
    const { url } = await scripted(respondWith(answer));
    const error = await failure(url);
    expect(error).toBeInstanceOf(StreamFetchError);
    expect(error.remediation).toContain(text);
  });

  test('a connection that closes is reported', async () => {
    const { url } = await scripted((_request, _url, socket) => {
      socket.destroy();
      return null;
    });
    expect((await failure(url)).remediation).toContain('closed the connection');
  });

  test('a closed port is reported', async () => {
    expect((await failure('rtsp://127.0.0.1:1/cam')).remediation).toContain('Port 1 refuses connections');
    const nowhere = createEgressGuard({ allowRanges: [], lookup: () => Promise.resolve([]) });
    expect((await failure('rtsp://gone.example/cam', nowhere)).remediation).toContain('unknown');
  });

  test('a forbidden address is rejected and not connected to', async () => {
    const server = await scripted(respondWith(sdp(liveSdp)));
    const closed = createEgressGuard({
      allowRanges: [],
      lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    });
    const byName = server.url.replace('127.0.0.1', 'cam.example');
    const urls = [
      server.url,
      byName,
      server.url.replace('127.0.0.1', '0x7f.1'),
      server.url.replace('127.0.0.1', '[::ffff:7f00:1]'),
    ];
    for (const url of urls) expect(await failure(url, closed)).toBeInstanceOf(InvalidUrlError);
    expect(server.requests).toEqual([]);
  });
});
