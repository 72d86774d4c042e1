import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { describeRtsp } from '../../../../adapters/media/rtsp/connection/describe.ts';
import { RtspStatusError } from '../../../../adapters/media/rtsp/protocol/errors.ts';
import { openRtspRelay, type RtspRelay } from '../../../../adapters/media/rtsp/rtsp-relay.ts';
import {
  liveSdp,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedRequest,
} from '../../../support/rtsp/scripted-server.ts';

/** Timeout: two cores may be busy with other tests. */
const pollOptions = { interval: 10, timeout: 10_000 };

const tcp = 'RTP/AVP/TCP;unicast;interleaved=2-3;ssrc=12';

/** Starts a camera without oddities, unless `other` responds first. */
async function camera(
  other: (request: ScriptedRequest, socket: Socket) => ScriptedAnswer | undefined = () => undefined,
) {
  let socket: Socket | null = null;
  const server = await startScriptedServer((request, _url, connection) => {
    socket = connection;
    const answered = other(request, connection);
    if (answered !== undefined) return answered;
    if (request.method === 'DESCRIBE') return { status: 200, body: liveSdp };
    if (request.method === 'SETUP')
      return { status: 200, headers: { Session: 'abc;timeout=20', Transport: tcp } };
    return { status: 200 };
  });
  onTestFinished(() => server.close());
  return { ...server, socket: () => socket! };
}

async function relayTo(url: string): Promise<RtspRelay> {
  const guard = createEgressGuard({ allowRanges: ['127.0.0.1/32'] });
  const stream = await describeRtsp(
    { url, caller: 'ada' },
    { guard, answerTimeoutMs: 5_000 },
    new AbortController().signal,
  );
  const relay = await openRtspRelay(stream, () => new Date(1_000));
  onTestFinished(() => relay.close());
  return relay;
}

/** Client of the relay, in place of ffmpeg. */
function viewer(relayUrl: string) {
  const url = new URL(relayUrl);
  const socket = connect(Number(url.port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = Buffer.alloc(0);
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return {
    socket,
    closed,
    received: () => received,
    ask: (method: string, path = '') =>
      socket.write(
        `${method} ${relayUrl}${path} RTSP/1.0\r\nCSeq: 7\r\nTransport: RTP/AVP;unicast;client_port=1-2\r\n\r\n`,
      ),
    see: (text: string | Buffer) => expect.poll(() => received.includes(text), pollOptions).toBe(true),
  };
}

/** Resolves when a number has not changed for 300 ms. */
async function settled(figure: () => number): Promise<void> {
  for (let before = -1; before !== figure(); await new Promise((resolve) => setTimeout(resolve, 300)))
    before = figure();
}

describe('openRtspRelay', () => {
  test('the relay responds to ffmpeg itself, with only the track of the server', async () => {
    const { url, requests } = await camera(({ method }) =>
      method === 'DESCRIBE'
        ? { status: 200, headers: { 'Content-Base': 'rtsp://10.9.9.9/', Server: 'evil' }, body: liveSdp }
        : undefined,
    );
    const relay = await relayTo(url);
    const ffmpeg = viewer(relay.url);
    for (const method of ['OPTIONS', 'DESCRIBE']) ffmpeg.ask(method);
    ffmpeg.ask('SETUP', '/video');
    await ffmpeg.see('Transport: RTP/AVP/TCP;unicast;interleaved=2-3\r\n');
    const answers = ffmpeg.received().toString();
    expect(answers).toContain(`a=control:${relay.url}/video\r\n`);
    expect(answers).toContain('CSeq: 7');
    expect(answers).toContain('Session: 1;timeout=20');
    expect(answers).not.toMatch(/10\.9\.9\.9|evil|\babc\b/);
    expect(requests.map(({ method }) => method)).toEqual(['OPTIONS', 'DESCRIBE', 'SETUP']);
  });

  test('the relay sets the track up over TCP and plays it in the session of the server', async () => {
    const { url, requests } = await camera();
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await expect.poll(() => requests.at(-1)?.method, pollOptions).toBe('PLAY');
    const [setup, play] = requests.slice(-2);
    expect([setup!.url, setup!.header('transport')]).toEqual([
      `${url}/track1`,
      'RTP/AVP/TCP;unicast;interleaved=0-1',
    ]);
    expect([play!.url, play!.header('session')]).toEqual([url, 'abc']);
  });

  test('the relay passes frames unchanged in both directions and reports the time of the newest', async () => {
    const { url, socket, frames } = await camera();
    const relay = await relayTo(url);
    const ffmpeg = viewer(relay.url);
    ffmpeg.ask('PLAY');
    await ffmpeg.see('200 OK');
    expect(relay.lastFrameAt()).toBeNull();
    const frame = Buffer.from([0x24, 2, 0, 8, 0xde, 0xad, 0x24, 0x0d, 1, 2, 3, 4]);
    await expect
      .poll(() => (socket().write(frame), ffmpeg.received().includes(frame)), pollOptions)
      .toBe(true);
    expect(relay.lastFrameAt()).toEqual(new Date(1_000));
    const report = Buffer.from([0x24, 3, 0, 2, 1, 2]);
    ffmpeg.socket.write(report);
    await expect.poll(() => frames[0], pollOptions).toEqual(report);
  });

  test('the relay responds to PLAY before the first frame, which ffmpeg would drop otherwise', async () => {
    const frame = Buffer.from([0x24, 2, 0, 8, 0x99, 1, 2, 3, 4, 5, 6, 7]);
    const { url } = await camera(({ method }, socket) =>
      method === 'PLAY' ? (socket.write(frame), { status: 200 }) : undefined,
    );
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await ffmpeg.see(frame);
    expect(ffmpeg.received().subarray(-frame.length)).toEqual(frame);
    expect(ffmpeg.received().toString()).toMatch(/^RTSP\/1\.0 200/);
  });

  test('the relay pauses the server while ffmpeg does not read', async () => {
    const { url, socket } = await camera();
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await ffmpeg.see('200 OK');
    ffmpeg.socket.pause();
    const frame = Buffer.concat([Buffer.from([0x24, 2, 0xff, 0xff]), Buffer.alloc(0xffff)]);
    for (let sent = 0; sent < 40_000_000; sent += frame.length) socket().write(frame);
    await settled(() => socket().writableLength);
    expect(socket().writableLength).toBeGreaterThan(10_000_000);
    ffmpeg.socket.removeAllListeners('data').resume();
    await expect.poll(() => socket().writableLength, pollOptions).toBe(0);
  });

  test.each([
    ['OPTIONS', 'OPTIONS, DESCRIBE, SETUP, PLAY'],
    ['GET_PARAMETER', 'OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER'],
  ])('the relay keeps the session alive at the interval of the server, with %s', async (beat, methods) => {
    const { url, requests } = await camera(({ method }) => {
      if (method === 'OPTIONS') return { status: 200, headers: { Public: methods } };
      const session = { Session: 'abc ; timeout = 1', Transport: tcp };
      return method === 'SETUP' ? { status: 200, headers: session } : undefined;
    });
    viewer((await relayTo(url)).url).ask('PLAY');
    await expect.poll(() => requests.at(-1)?.method, pollOptions).toBe(beat);
    expect(requests.at(-1)?.header('session')).toBe('abc');
  });

  test('the relay sends TEARDOWN when ffmpeg disconnects', async () => {
    const { url, requests, socket } = await camera();
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await ffmpeg.see('200 OK');
    ffmpeg.socket.destroy();
    await expect.poll(() => requests.at(-1)?.method, pollOptions).toBe('TEARDOWN');
    await expect.poll(() => socket().destroyed, pollOptions).toBe(true);
  });

  test("the relay closes ffmpeg's connection when the server disconnects, after relaying received frames", async () => {
    const { url, socket } = await camera();
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await ffmpeg.see('200 OK');
    const frame = Buffer.from([0x24, 2, 0, 8, 0x77, 1, 2, 3, 4, 5, 6, 7]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket().end(frame);
    await ffmpeg.closed;
    expect(ffmpeg.received().subarray(-frame.length)).toEqual(frame);
  });

  test("the relay closes ffmpeg's connection when the server rejects PLAY", async () => {
    const { url } = await camera(({ method }) => (method === 'PLAY' ? { status: 454 } : undefined));
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await ffmpeg.closed;
  });

  test('the relay closes at its byte limit', async () => {
    const { url, socket } = await camera();
    const ffmpeg = viewer((await relayTo(url)).url);
    ffmpeg.ask('PLAY');
    await ffmpeg.see('200 OK');
    ffmpeg.socket.removeAllListeners('data').resume();
    const frame = Buffer.concat([Buffer.from([0x24, 2, 0xff, 0xff]), Buffer.alloc(0xffff)]);
    const flood = (): void => {
      while (!socket().destroyed && socket().write(frame));
    };
    socket().on('drain', flood);
    flood();
    await ffmpeg.closed;
    expect(socket().bytesWritten).toBeGreaterThan(90_000_000);
  });

  test.each([
    ['UDP', 'RTP/AVP;unicast;client_port=1-2;server_port=3-4'],
    ['multicast', 'RTP/AVP;multicast;destination=224.1.1.1'],
    ['nothing', ''],
  ])('the relay does not open if the server offers %s', async (_, transport) => {
    const { url } = await camera(({ method }) =>
      method === 'SETUP' ? { status: 200, headers: { Transport: transport } } : undefined,
    );
    await expect(relayTo(url)).rejects.toBeInstanceOf(RtspStatusError);
  });
});

describe('other client of the relay', () => {
  test('another client without the secret path is not served', async () => {
    const { url, requests } = await camera();
    const relay = await relayTo(url);
    const stranger = viewer(new URL('/other', relay.url).href);
    stranger.ask('DESCRIBE');
    await stranger.closed;
    const nonsense = viewer(relay.url);
    nonsense.socket.write('GET / HTTP/1.1\r\n\r\n');
    await nonsense.closed;
    const ffmpeg = viewer(relay.url);
    ffmpeg.ask('DESCRIBE');
    await ffmpeg.see('m=video');
    expect(requests.map(({ method }) => method)).not.toContain('PLAY');
  });

  test('another client cannot connect after ffmpeg', async () => {
    const { url } = await camera();
    const relay = await relayTo(url);
    const ffmpeg = viewer(relay.url);
    const early = viewer(relay.url);
    await new Promise((resolve) => early.socket.on('connect', resolve));
    ffmpeg.ask('OPTIONS');
    await ffmpeg.see('200 OK');
    early.ask('OPTIONS');
    await Promise.all([early.closed, viewer(relay.url).closed]);
    expect(early.received()).toHaveLength(0);
    expect(ffmpeg.socket.destroyed).toBe(false);
  });

  test('another client that sends nothing is disconnected', async () => {
    const { url } = await camera();
    await viewer((await relayTo(url)).url).closed;
  });
});
