import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { readRtspUrl } from '../../../../adapters/media/rtsp/protocol/stream-url.ts';
import { InvalidUrlError, StreamFetchError } from '../../../../core/errors.ts';
import { readMoment, record } from '../../../support/hls/recording.ts';
import { readFailure } from '../../../support/hls/watched-stream.ts';
import { selfSigned } from '../../egress/self-signed.ts';
import { startCamera, type CameraOddities } from '../../../support/rtsp/camera.ts';
import { recordRtp, type RtpPacket, type RtpRecordingOptions } from '../../../support/rtsp/rtp-recording.ts';
import type { ScriptedAnswer, ScriptedRequest } from '../../../support/rtsp/scripted-server.ts';
import { writeRtp } from '../../../support/rtsp/rtp-packets.ts';
import { captureRtsp } from '../../../support/rtsp/watch-rtsp.ts';

async function camera(odd: CameraOddities = {}, options: RtpRecordingOptions = {}) {
  const started = await startCamera(await recordRtp(options), odd);
  onTestFinished(() => started.close());
  return started;
}

/** Returns the moment that a frame shows, in seconds of the recording; 0 is its first frame. */
async function moment(odd: CameraOddities = {}, options: RtpRecordingOptions = {}): Promise<number> {
  const { url } = await camera(odd, options);
  return readMoment((await captureRtsp(url)).thumbnail);
}

const withUser = (url: string, user: string): string => url.replace('rtsp://', `rtsp://${user}@`);

/** The cameras send 3 s without pauses, with a key frame each half second. */
const newest = 2.5;

describe('cameras', () => {
  test.each(['h264', 'h265', 'mjpeg'] as const)('a camera with %s is captured', async (codec) => {
    expect(await moment({}, { codec })).toBeCloseTo(codec === 'mjpeg' ? 0 : newest, 0);
  });

  test('only the video track of a camera with audio, video and metadata is set up', async () => {
    const metadata =
      'm=application 0 RTP/AVP 107\r\na=rtpmap:107 vnd.onvif.metadata/90000\r\na=control:streamid=2\r\n';
    const { url, requests } = await camera({ describe: (text) => text + metadata }, { sound: true });
    expect(readMoment((await captureRtsp(url)).thumbnail)).toBeCloseTo(newest, 0);
    const setups = requests.filter(({ method }) => method === 'SETUP');
    expect(setups.map((setup) => setup.url)).toEqual([`${url}/streamid=1`]);
  });

  test('a camera with late key frames is awaited', async () => {
    const gop = { keyFrameEvery: 20 };
    const { packets } = await recordRtp(gop);
    const firstPicture = packets.filter(({ isControl }) => !isControl)[0]!.bytes.readUInt32BE(4);
    const isLater = ({ bytes, isControl }: RtpPacket): boolean =>
      isControl || bytes.readUInt32BE(4) !== firstPicture;
    expect(await moment({ packet: (packet) => (isLater(packet) ? packet.bytes : null) }, gop)).toBeCloseTo(
      2,
      0,
    );
  });

  test('a camera without parameter sets in its description sends them with its key frames', async () => {
    const describe = (text: string): string => text.replace(/^a=fmtp:.*\r\n/m, '');
    expect(await moment({ describe })).toBeCloseTo(newest, 0);
    expect(await moment({ describe }, { codec: 'h265' })).toBeCloseTo(newest, 0);
  });
});

describe('addresses of cameras', () => {
  test('a camera at an IPv6 address is captured', async () => {
    expect(await moment({ host: '::1' })).toBeCloseTo(newest, 0);
  });

  test('a camera with TLS is captured if its certificate is trusted and names the host', async () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, selfSigned.cert]);
    try {
      const { url } = await camera({ tls: selfSigned });
      const named = url.replace('127.0.0.1', 'cam.example');
      const lookup = async () => [{ address: '127.0.0.1', family: 4 as const }];
      expect(readMoment((await captureRtsp(named, {}, undefined, lookup)).thumbnail)).toBeCloseTo(newest, 0);
      expect((await readFailure(captureRtsp(url))).remediation).toContain('is for another host name');
    } finally {
      setDefaultCACertificates(before);
    }
  });

  test('a certificate that is not trusted is explained, and gets no request', async () => {
    const { url, requests } = await camera({ tls: selfSigned });
    const { remediation } = await readFailure(captureRtsp(withUser(url, 'viewer:secret')));
    expect(remediation).toContain('not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(remediation).toContain('NODE_EXTRA_CA_CERTS');
    expect(requests).toEqual([]);
  });

  test('a port without TLS is explained', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end('RTSP/1.0 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    const { remediation } = await readFailure(captureRtsp(`rtsps://127.0.0.1:${port}/cam`));
    expect(remediation).toContain('does not use TLS');
  });
});

test.each(['frames', 'clip'] as const)('MPEG-TS over RTP is captured (%s)', async (mode) => {
  const bytes = Buffer.concat((await record()).segments);
  const packets = Array.from({ length: Math.ceil(bytes.length / 1316) }, (_, index) => {
    const packet = { sequence: index, timestamp: index * 900, payloadType: 33 };
    const payload = bytes.subarray(index * 1316, (index + 1) * 1316);
    return { track: 0, isControl: false, bytes: writeRtp({ ...packet, payload }).subarray(4) };
  });
  const description = 'v=0\r\nt=0 0\r\nm=video 0 RTP/AVP 33\r\na=control:track1\r\n';
  const server = await startCamera({ description, packets });
  onTestFinished(() => server.close());
  const { thumbnail } = await captureRtsp(server.url, { mode });
  expect(readMoment(thumbnail)).toBeGreaterThan(-0.5);
  expect(readMoment(thumbnail)).toBeLessThan(2.5);
});

describe('RTP packets', () => {
  test('packets with padding, a header extension and contributing sources are read', async () => {
    expect(
      await moment({ packet: ({ bytes, isControl }) => (isControl ? bytes : dressedUp(bytes)) }),
    ).toBeCloseTo(newest, 0);
  });

  test('RTCP packets in between are relayed', async () => {
    const report = (await recordRtp()).packets.find(({ isControl }) => isControl)!.bytes;
    const head = Buffer.from([0x24, 1, 0, report.length]);
    expect(await moment({ between: Buffer.concat([head, report]) })).toBeCloseTo(newest, 0);
  });

  test.each([
    ['of channels that were not set up', 9],
    ['that are too short', 1],
  ])('packets %s are ignored', async (_case, channel) => {
    const short = Buffer.from([0x24, channel, 0, 4, 0x80, 1, 2, 3]);
    expect(await moment({ between: short })).toBeCloseTo(newest, 0);
  });

  test('packets are found behind garbage', async () => {
    expect(await moment({ between: Buffer.from('\0\0oops') })).toBeCloseTo(newest, 0);
  });

  test('a connection that ends before the first frame is a failure, a later end is not', async () => {
    expect(await moment({ closesAfter: 12 })).toBeCloseTo(0.5, 0);
    const { url } = await camera({ closesAfter: 1 });
    expect((await readFailure(captureRtsp(url))).message).toBe('Failed to capture frame from stream');
  });
});

describe('RTSP SETUP', () => {
  test.each([
    [
      'other channels than requested',
      6,
      (channels: string) => `RTP/AVP/TCP;unicast;interleaved=${channels};ssrc=1`,
    ],
    ['the first channel alone', 4, () => 'RTP/AVP/TCP;interleaved=4'],
    ['no TCP but channels', 2, (channels: string) => `RTP/AVP;unicast;interleaved=${channels}`],
    ['no channels', 0, () => 'RTP/AVP/TCP;unicast;mode="PLAY"'],
    ['spaces and capitals', 8, (channels: string) => `rtp/avp/tcp; unicast; Interleaved = ${channels}`],
  ])('a SETUP response with %s is played', async (_case, channel, transport) => {
    expect(await moment({ channel, transport })).toBeCloseTo(newest, 0);
  });

  test('a rejected TCP transport (461) or a UDP response never leads to UDP', async () => {
    const refusing = await camera({
      answer: ({ method }) => (method === 'SETUP' ? { status: 461 } : undefined),
    });
    const other = await camera({
      transport: () => 'RTP/AVP;unicast;client_port=5000-5001;server_port=6000-6001',
    });
    for (const { url, requests } of [refusing, other]) {
      expect((await readFailure(captureRtsp(url))).remediation).toContain('TCP');
      expect(requests.map((request) => request.header('transport')).join('')).not.toContain('client_port');
    }
  });

  test.each([
    ['a=control:*', 'streamid=0', {}, ['/streamid=0', '/']],
    ['a=control:*', 'rtsp://10.9.9.9/inner/track1', {}, ['rtsp://10.9.9.9/inner/track1', '/']],
    ['a=control:rtsp://10.9.9.9/a', 'track1', {}, ['rtsp://10.9.9.9/a/track1', 'rtsp://10.9.9.9/a']],
    [
      'a=tool:x',
      'id=1',
      { 'Content-Base': 'rtsp://10.9.9.9/b' },
      ['rtsp://10.9.9.9/b/id=1', 'rtsp://10.9.9.9/b'],
    ],
    [
      'a=tool:x',
      'trackID=1',
      { 'Content-Base': '', 'Content-Location': 'rtsp://h/loc/' },
      ['rtsp://h/loc/trackID=1', 'rtsp://h/loc/'],
    ],
    ['a=tool:x', '*', {}, ['/', '/']],
  ])(
    'the control URLs %s and %s are sent as given and never connected to',
    async (session, track, describeHeaders, urls) => {
      const describe = (text: string): string =>
        text.replace(/a=tool:.*/, session).replace(/a=control:streamid=0/, `a=control:${track}`);
      const { url, requests } = await camera({ describe, describeHeaders });
      expect(readMoment((await captureRtsp(url)).thumbnail)).toBeCloseTo(newest, 0);
      const asked = ['SETUP', 'PLAY'].map((name) => requests.find(({ method }) => method === name)!.url);
      expect(asked).toEqual(urls.map((wanted) => (wanted.startsWith('/') ? url + wanted : wanted)));
    },
  );
});

describe('RTSP server', () => {
  test.each([501, 404])('a server that answers OPTIONS with %i is supported', async (status) => {
    expect(await moment({ answer: refusing('OPTIONS', status) })).toBeCloseTo(newest, 0);
  });

  const number = /CSeq: .*\r\n/;

  test.each<[string, (text: string) => string]>([
    ['with lower-case header names', (text) => text.replace(/^[\w-]+(?=:)/gm, (name) => name.toLowerCase())],
    ['that does not number its responses', (text) => text.replace(number, '')],
    ['whose responses all have the number 0', (text) => text.replace(number, 'CSeq: 0\r\n')],
    ['that numbers its responses on its own', (text) => text.replace(number, 'CSeq: 700\r\n')],
    [
      'that sends 100 Continue first',
      (text) => `RTSP/1.0 100 Continue\r\n${number.exec(text)?.[0]}\r\n${text}`,
    ],
    ['that understates the length of its description by one byte', (text) => `${text}\0`],
    [
      'that sends a request in between',
      (text) => `SET_PARAMETER rtsp://c/ RTSP/1.0\r\nCSeq: 77\r\n\r\n${text}`,
    ],
    ['without a session', (text) => text.replace(/Session: .*\r\n/, '')],
  ])('a server %s is supported', async (_case, wire) => {
    expect(await moment({ wire })).toBeCloseTo(newest, 0);
  });

  test.each(['SETUP', 'PLAY'])('a redirect at %s is not followed', async (method) => {
    const elsewhere = await camera();
    const { url } = await camera({
      answer: (request) =>
        request.method === method ? { status: 302, headers: { Location: elsewhere.url } } : undefined,
    });
    await readFailure(captureRtsp(url));
    expect(elsewhere.requests).toEqual([]);
  });

  test.each(['rtspu', 'rtsph', 'rtmp'])('%s is rejected by its scheme', async (scheme) => {
    const { url, requests } = await camera();
    expect(await readFailure(captureRtsp(url.replace('rtsp', scheme)))).toBeInstanceOf(InvalidUrlError);
    expect(requests).toEqual([]);
  });

  test('an HTTP server is explained', async () => {
    const { url } = await camera({
      wire: () => 'HTTP/1.0 400 Bad Request\r\nContent-Type: application/x-rtsp-tunnelled\r\n\r\n',
    });
    expect((await readFailure(captureRtsp(url))).remediation).toMatch(
      /uses HTTP, not RTSP.*Use the RTSP port.*rtsp\+http:/,
    );
  });

  test('a camera that only offers SRTP is explained', async () => {
    const { url, requests } = await camera({ describe: (text) => text.replace('RTP/AVP', 'RTP/SAVP') });
    expect((await readFailure(captureRtsp(url))).remediation).toMatch(/encrypted with SRTP .* Turn SRTP off/);
    expect(requests.every(({ method }) => method !== 'SETUP')).toBe(true);
  });
});

describe('camera credentials', () => {
  test('basic credentials are sent with every request after a challenge', async () => {
    const challenge = { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="cam"' } };
    const { url, requests } = await camera({
      answer: (request) => (isBasic(request) ? undefined : challenge),
    });
    expect(readMoment((await captureRtsp(withUser(url, viewer))).thumbnail)).toBeCloseTo(newest, 0);
    const methods = requests.slice(0, 5).map(({ method }) => method);
    expect(methods).toEqual(['OPTIONS', 'OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY']);
  });

  test.each([
    ['a new nonce for every method', (nonce: number) => `Digest realm="cam", nonce="${nonce}"`],
    [
      'a session hash',
      (nonce: number) => `Digest realm="cam", nonce="${nonce}", algorithm=MD5-sess, qop="auth"`,
    ],
    [
      'several challenges, SHA-256 being the strongest',
      (nonce: number) =>
        `Basic realm="c, Digest", Digest realm="cam", nonce="x", Digest realm="cam", nonce="${nonce}", algorithm=SHA-256, qop="auth"`,
    ],
  ])('digest credentials support %s', async (_case, challenge) => {
    let nonce = 0;
    const asked = new Set<string>();
    const { url, requests } = await camera({
      answer: (request): ScriptedAnswer | undefined => {
        if (asked.has(request.method) && isDigest(request, nonce)) return undefined;
        asked.add(request.method);
        nonce += 1;
        return { status: 401, headers: { 'WWW-Authenticate': challenge(nonce) } };
      },
    });
    expect(readMoment((await captureRtsp(withUser(url, viewer))).thumbnail)).toBeCloseTo(newest, 0);
    const methods = requests.slice(0, 8).map(({ method }) => method);
    expect(methods).toEqual(['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY'].flatMap((method) => [method, method]));
  });

  test('credentials of a URL are decoded, also with a bare percent sign or without a user name', () => {
    const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
    const of = (user: string) => readRtspUrl(`rtsp://${user}@127.0.0.1/`, guard).credentials;
    expect(of('a%3Ab:p%40%2F')).toEqual({ username: 'a:b', password: 'p@/' });
    expect(of('admin:100%')).toEqual({ username: 'admin', password: '100%' });
    expect(of('admin')).toEqual({ username: 'admin', password: '' });
    expect(of(':secret')).toEqual({ username: '', password: 'secret' });
  });

  test('credentials appear in no process and in no error', async () => {
    const challenge = { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="cam"' } };
    const answer = (request: ScriptedRequest) =>
      request.header('authorization') === undefined ? challenge : undefined;
    // ffmpeg reads the packets of this codec itself.
    const { url, requests } = await camera({ answer, packet: () => null }, { codec: 'mjpeg' });
    const controller = new AbortController();
    const taken = captureRtsp(withUser(url, 'viewer:hunter2'), {}, controller.signal);
    taken.catch(() => undefined);
    await expect.poll(() => requests.at(-1)?.method, { interval: 10, timeout: 10_000 }).toBe('PLAY');
    const shown = await processesOfOurs();
    expect(shown).toContain('rtsp://127.0.0.1:');
    expect(shown).not.toMatch(/hunter2|viewer|\/cam/);
    controller.abort(new StreamFetchError('ended'));
    await expect(taken).rejects.toThrow();
    const refused = await camera({ answer: () => challenge });
    const failure = await readFailure(captureRtsp(withUser(refused.url, 'viewer:hunter2')));
    expect(`${failure.stack} ${failure.remediation} ${String(failure.cause)}`).not.toContain('hunter2');
    // Never before a challenge, and not again after a rejection.
    expect(refused.requests.map((request) => request.header('authorization') !== undefined)).toEqual([
      false,
      true,
    ]);
  });
});

function refusing(method: string, status: number) {
  return (request: ScriptedRequest): ScriptedAnswer | undefined =>
    request.method === method ? { status } : undefined;
}

const viewer = 'viewer:p%40ss%2F%22w';

function isBasic(request: ScriptedRequest): boolean {
  return request.header('authorization') === `Basic ${Buffer.from('viewer:p@ss/"w').toString('base64')}`;
}

/** Verifies the response like a server, with the latest nonce. */
function isDigest(request: ScriptedRequest, nonce: number): boolean {
  const given = request.header('authorization') ?? '';
  const field = (name: string): string => new RegExp(`[ ,]${name}="?([^",]*)`).exec(given)?.[1] ?? '';
  const name = field('algorithm').startsWith('SHA-256') ? 'sha256' : 'md5';
  const hash = (text: string): string => createHash(name).update(text).digest('hex');
  const ofUser = hash('viewer:cam:p@ss/"w');
  const secret = field('algorithm').endsWith('-sess')
    ? hash(`${ofUser}:${nonce}:${field('cnonce')}`)
    : ofUser;
  const what = hash(`${request.method}:${request.url}`);
  const salt = field('qop') === 'auth' ? `${nonce}:${field('nc')}:${field('cnonce')}:auth` : `${nonce}`;
  return field('nonce') === `${nonce}` && field('response') === hash(`${secret}:${salt}:${what}`);
}

/** Adds an extension of one word, a contributing source, and four bytes of padding. */
function dressedUp(packet: Buffer): Buffer {
  const head = Buffer.from(packet.subarray(0, 12));
  head.writeUInt8(0x80 | 0x20 | 0x10 | 1, 0);
  const source = Buffer.from([0, 0, 0, 7]);
  const extension = Buffer.from([0xbe, 0xde, 0, 1, 0x10, 0xff, 0, 0]);
  return Buffer.concat([head, source, extension, packet.subarray(12), Buffer.from([0, 0, 0, 4])]);
}

/** Returns command lines and environments of the child processes. */
async function processesOfOurs(): Promise<string> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const shown = await Promise.all(
    ids.map(async (id) => {
      const read = (file: string): Promise<string> => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '');
      const parent = /^PPid:\s*(\d+)/m.exec(await read('status'))?.[1];
      return parent === `${process.pid}` ? (await read('cmdline')) + (await read('environ')) : '';
    }),
  );
  return shown.join('\n');
}
