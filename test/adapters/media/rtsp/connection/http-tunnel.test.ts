import type { Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../../adapters/egress/guard.ts';
import { describeRtsp } from '../../../../../adapters/media/rtsp/connection/describe.ts';
import { RtspConnectionError } from '../../../../../adapters/media/rtsp/protocol/errors.ts';
import { openHttpTunnel } from '../../../../../adapters/media/rtsp/connection/http-tunnel.ts';
import { readRtspUrl } from '../../../../../adapters/media/rtsp/protocol/stream-url.ts';
import { InvalidUrlError } from '../../../../../core/errors.ts';
import { readMoment } from '../../../../support/hls/recording.ts';
import { readFailure } from '../../../../support/hls/watched-stream.ts';
import { startCamera, type CameraOddities } from '../../../../support/rtsp/camera.ts';
import { startGstRtspServer } from '../../../../support/rtsp/gst-rtsp-server.ts';
import { startHttpTunnel, type TunnelOddities } from '../../../../support/rtsp/http-tunnel.ts';
import { recordRtp } from '../../../../support/rtsp/rtp-recording.ts';
import { captureRtsp } from '../../../../support/rtsp/watch-rtsp.ts';
import { selfSigned } from '../../../egress/self-signed.ts';

async function tunnel(odd: TunnelOddities = {}, oddCamera: CameraOddities = {}) {
  const camera = await startCamera(await recordRtp({}), oddCamera);
  onTestFinished(() => camera.close());
  const started = await startHttpTunnel(camera.url, odd);
  onTestFinished(() => started.close());
  return { ...started, camera };
}

async function remediation(odd: TunnelOddities, user = ''): Promise<string> {
  const { url } = await tunnel(odd, { answer: () => null });
  return (await readFailure(captureRtsp(url.replace('://', `://${user}`)))).remediation;
}

const ok = 'HTTP/1.0 200 OK\r\n';
const endingWith = (response: string) => (_: unknown, socket: Socket) => {
  setTimeout(() => socket.end(), 20);
  return response;
};
const refused =
  (status: number, header = 'Server: cam') =>
  () =>
    `HTTP/1.0 ${status} Refused\r\n${header}\r\n\r\n`;

/** The camera sends 3 s without pauses, with a key frame each half second. */
const newest = 2.5;

describe('RTSP through HTTP', () => {
  test.each(['frames', 'clip'] as const)('a camera is captured (%s)', async (mode) => {
    const { url, requests, camera } = await tunnel();
    expect(readMoment((await captureRtsp(url, { mode })).thumbnail)).toBeCloseTo(newest, 0);
    const [get, post] = requests;
    expect([get?.method, post?.method, get?.path]).toEqual(['GET', 'POST', '/cam']);
    expect(get?.header('accept')).toBe('application/x-rtsp-tunnelled');
    expect(get?.header('x-sessioncookie')).toMatch(/^[0-9a-f]{22}$/);
    expect(post?.header('x-sessioncookie')).toBe(get?.header('x-sessioncookie'));
    expect(camera.requests[0]?.url).toBe(url.replace('rtsp+http', 'rtsp'));
  });

  test.each([['none'], ['basic'], ['digest']])("GStreamer's server is captured (%s)", async (auth) => {
    const server = await startGstRtspServer('--auth', auth, '--password', 'p@ss');
    onTestFinished(() => server.close());
    const url = server.url.replace('rtsp://', 'rtsp+http://viewer:p%40ss@');
    expect((await captureRtsp(url, { mode: 'hybrid' })).clip).toBeDefined();
  });

  test('a camera with TLS is captured if its certificate is trusted and names the host', async () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, selfSigned.cert]);
    try {
      const { url } = await tunnel({ tls: selfSigned });
      const lookup = async () => [{ address: '127.0.0.1', family: 4 as const }];
      const named = url.replace('127.0.0.1', 'cam.example');
      expect(readMoment((await captureRtsp(named, {}, undefined, lookup)).thumbnail)).toBeCloseTo(newest, 0);
      expect((await readFailure(captureRtsp(url))).remediation).toContain('is for another host name');
    } finally {
      setDefaultCACertificates(before);
    }
  });

  test('both connections are to the address that the guard chose first, whatever the name or a response says later', async () => {
    const elsewhere = 'X-Server-IP-Address: 127.0.0.2\r\nLocation: http://127.0.0.2/';
    const { url, requests } = await tunnel({ get: () => `${ok}${elsewhere}\r\n\r\n` });
    let lookups = 0;
    const lookup = async () => [{ address: `127.0.0.${(lookups += 1)}`, family: 4 as const }];
    await captureRtsp(url.replace('127.0.0.1', 'cam.example'), {}, undefined, lookup);
    expect(lookups).toBe(1);
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  test('an address that is not allowed gets no request', async () => {
    const { url, requests } = await tunnel();
    const guard = createEgressGuard({
      allowRanges: [],
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    const { signal } = new AbortController();
    for (const each of [url, url.replace('127.0.0.1', 'cam.example')])
      await expect(describeRtsp({ url: each, caller: 'ada' }, { guard }, signal)).rejects.toBeInstanceOf(
        InvalidUrlError,
      );
    expect(requests).toEqual([]);
  });

  test.each(['Basic realm="cam"', 'Digest realm="cam", nonce="n1", qop="auth"'])(
    'both requests have credentials after the challenge %s, and the first one none',
    async (challenge) => {
      const [scheme = ''] = challenge.split(' ');
      const { url, requests } = await tunnel({
        get: (request) =>
          request.header('authorization') ? undefined : refused(401, `WWW-Authenticate: ${challenge}`)(),
      });
      await captureRtsp(url.replace('://', '://viewer:secret@'));
      const sent = requests.map((each) => `${each.method} ${each.header('authorization') ?? ''}`);
      expect(sent).toEqual([
        'GET ',
        expect.stringMatching(`GET ${scheme}`),
        expect.stringMatching(`POST ${scheme}`),
      ]);
      if (scheme === 'Digest') expect(sent[2]).toMatch(/uri="\/cam".*nc=00000002/);
    },
  );

  test.each([
    ['two spaces in its status line', 'HTTP/1.0  200  OK\r\n'],
    ['no reason', 'HTTP/1.0 200\r\n'],
    ['a line that ends with LF', 'HTTP/1.0 200 OK\n'],
    ['a head of 30 kB', `${ok}X-Filler: ${'x'.repeat(30_000)}\r\n`],
  ])('a response with %s opens the tunnel', async (_, answered) => {
    const { url } = await tunnel({ get: () => `${answered}\r\n` });
    expect(readMoment((await captureRtsp(url)).thumbnail)).toBeCloseTo(newest, 0);
  });

  test('an early response to POST is no failure', async () => {
    const { url } = await tunnel({ post: () => `${ok}Content-Length: 0\r\n\r\n` });
    expect(readMoment((await captureRtsp(url)).thumbnail)).toBeCloseTo(newest, 0);
  });

  test.each(['get', 'post'] as const)(
    'a server fills no memory with what is not read (%s)',
    async (method) => {
      const isFull = Promise.withResolvers<void>();
      const flood = (_: unknown, socket: Socket): string => {
        const fill = (): void => {
          if (socket.destroyed) return;
          if (socket.write(Buffer.alloc(65_536))) return void setImmediate(fill);
          const timer = setTimeout(isFull.resolve, 300);
          socket.once('drain', () => (clearTimeout(timer), fill()));
        };
        setTimeout(fill, 10);
        return `${ok}\r\n`;
      };
      const { url } = await tunnel({ [method]: flood }, { answer: () => null });
      const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
      const signal = AbortSignal.timeout(10_000);
      const way = await openHttpTunnel(guard, readRtspUrl(url, guard), { timeoutMs: 5_000, signal });
      onTestFinished(async () => void way.destroy());
      way.once('readable', () => undefined);
      await isFull.promise;
      expect(way.readableLength).toBeLessThanOrEqual(131_072);
    },
  );
});

describe('an HTTP server that does not tunnel', () => {
  const tunnelsNot = 'does not tunnel RTSP through HTTP at this path';

  test.each<[string, TunnelOddities, string]>([
    ['a web page', { get: endingWith(`${ok}Content-Type: text/html\r\n\r\n<html>`) }, tunnelsNot],
    ['a JPEG', { get: () => `${ok}Content-Type: image/jpeg\r\n\r\n${'\xff\xd8'.repeat(9_000)}` }, tunnelsNot],
    ['text instead of RTSP', { get: () => `${ok}\r\nhello\r\n\r\n` }, tunnelsNot],
    ['no response of HTTP', { get: () => 'RTSP/1.0 400 Bad Request\r\n\r\n' }, tunnelsNot],
    ['405', { get: refused(405) }, tunnelsNot],
    ['404', { get: refused(404) }, 'has no stream at this path'],
    ['401 without a password in the URL', { get: refused(401) }, 'rtsp+http://USER:PASSWORD@host/path'],
    ['a redirect', { get: refused(302, 'Location: http://127.0.0.2/') }, 'redirects are not followed'],
    ['too long a head', { get: () => `${ok}X: ${'x'.repeat(40_000)}` }, tunnelsNot],
    ['too many headers', { get: () => `${ok}${'X: x\r\n'.repeat(200)}\r\n` }, tunnelsNot],
    ['405 to POST', { post: refused(405) }, tunnelsNot],
    ['no HTTP to POST', { post: () => 'hello\r\n\r\n' }, tunnelsNot],
    ['401 to POST', { post: refused(401) }, 'requires a user name and password'],
  ])('the response %s is explained', async (_case, odd, expected) => {
    expect(await remediation(odd)).toContain(expected);
  });

  test.each<[string, TunnelOddities]>([
    ['GET', { get: () => '' }],
    ['GET after its response', { get: endingWith(`${ok}\r\n`) }],
    ['POST', { post: () => '' }],
  ])('the end of a connection is noticed before a timeout (%s)', async (_case, odd) => {
    const { url } = await tunnel(odd, { answer: () => null });
    const { cause, remediation: remedy } = await readFailure(captureRtsp(url));
    expect(cause).toEqual(new RtspConnectionError('RTSP server closed the connection'));
    expect(remedy).toMatch(/RTSP through HTTP, or closed the connection\. .*use rtsp:/);
  });

  test('a status other than 401 is final, whatever it challenges', async () => {
    const { url, requests } = await tunnel({ get: refused(404, 'WWW-Authenticate: Basic realm="cam"') });
    await readFailure(captureRtsp(url.replace('://', '://viewer:secret@')));
    expect(requests).toHaveLength(1);
  });

  test('a wrong password is explained after one try', async () => {
    const gets: string[] = [];
    const get = (request: { header(name: string): string | undefined }) => {
      gets.push(request.header('authorization') ?? '');
      return refused(401, 'WWW-Authenticate: Digest realm="cam", nonce="n1", qop="auth"')();
    };
    expect(await remediation({ get }, 'viewer:wrong@')).toContain('rejected the user name and password');
    expect(gets).toHaveLength(2);
  });

  test.each(['GET', 'POST'])(
    'a server that does not respond after its %s is left after a timeout',
    async (method) => {
      const { url, requests } = await tunnel(method === 'GET' ? { get: () => ok } : {}, {
        answer: () => null,
      });
      const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
      const options = { guard, answerTimeoutMs: 50 };
      const error = await readFailure(
        describeRtsp({ url: url, caller: 'ada' }, options, new AbortController().signal),
      );
      expect(error.remediation).toMatch(/did not respond/);
      expect(requests).toHaveLength(method === 'GET' ? 1 : 2);
    },
  );

  test('an aborted capture closes both connections', async () => {
    const sockets: Socket[] = [];
    const keep = (_: unknown, socket: Socket) => void sockets.push(socket);
    const { url } = await tunnel({ get: keep, post: keep }, { answer: () => null });
    const controller = new AbortController();
    const taken = captureRtsp(url, {}, controller.signal);
    await expect.poll(() => sockets.length, { interval: 5 }).toBe(2);
    controller.abort(new Error('left'));
    await expect(taken).rejects.toThrow('left');
    await expect
      .poll(() => sockets.every((socket) => socket.destroyed || socket.readableEnded), { interval: 5 })
      .toBe(true);
  });
});
