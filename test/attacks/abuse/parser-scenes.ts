import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { locateFfmpeg } from '../../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { isRandomAccess, packetBytes } from '../../../adapters/media/mpeg-ts/packet.ts';
import { liveSdp, startScriptedServer } from '../../support/rtsp/scripted-server.ts';

/** Call of the key: below `/api`, or to another path of the service. */
type SceneCall = { path: string; body: unknown };

/** Scene of one parser: what the key has it read, worst first. */
type Scene = (cleanup: AsyncDisposableStack) => Promise<SceneCall[]>;

/** Body that is small on the wire: bytes, with what the parser is to take them for. */
const zipped = (content: string | Buffer) => gzipSync(content, { level: 9 });
const repeat = (content: Buffer, bytes: number) =>
  Buffer.concat(Array.from({ length: Math.floor(bytes / content.length) }, () => content));
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Parsers of what strangers send, by the name of their scene. */
export const parserScenes: Record<string, Scene> = {
  playlist: async (cleanup) => {
    const bodies = [
      lines(124_000, (index) => `#EXTINF:2,\n${index}.ts`),
      lines(80_000, (index) => `#EXT-X-BYTERANGE:1@1\n#EXTINF:2,\n${index}.ts`),
      `#EXT-X-KEY:KEYFORMAT=${'"A='.repeat(2_600_000)}\n#EXTINF:1,\na.ts`,
      `#EXT-X-MEDIA:${'A="",'.repeat(1_600_000)}\n#EXTINF:1,\na.ts`,
      `#EXT-X-DEFINE:NAME="a",VALUE="x"\n${lines(100_000, () => `#EXTINF:2,\n${'{$a}'.repeat(10)}`)}`,
      '#x\n'.repeat(2_600_000),
    ].map((text) => zipped(`#EXTM3U\n${text}`));
    return checks(await serveZipped(cleanup, bodies), bodies.length, 'm3u8');
  },

  'mpeg-ts': async (cleanup) => {
    const segment = makeMedia('-f mpegts');
    const begin = findBegin(segment);
    const tables = segment.subarray(0, 3 * packetBytes);
    const rest = Buffer.alloc(packetBytes, 0xff);
    begin.copy(rest, 0, 0, 4);
    rest[1] = (rest[1] ?? 0) & ~0x40;
    rest[3] = 0x10;
    const bodies = [begin, Buffer.concat([begin, repeat(rest, 15 * packetBytes)])].map((unit) =>
      zipped(Buffer.concat([tables, repeat(unit, 15_000_000), segment])),
    );
    return checks(await servePlaylists(cleanup, bodies, 'ts'), bodies.length, 'm3u8');
  },

  mp4: async (cleanup) => {
    const whole = makeMedia('-movflags frag_keyframe+empty_moov+default_base_moof -f mp4');
    const at = whole.indexOf('moof') - 4;
    const [initialization, segment] = [whole.subarray(0, at), whole.subarray(at)];
    const bodies = [
      overlappingSamples(),
      repeat(box('free', Buffer.alloc(0)), 15_000_000),
      repeat(segment, 15_000_000),
    ];
    return checks(
      await servePlaylists(cleanup, bodies.map(zipped), 'm4s', initialization),
      bodies.length,
      'm3u8',
    );
  },

  jpeg: async (cleanup) => {
    const picture = makeMedia('-frames:v 1 -f mjpeg');
    const segments = repeat(Buffer.from([255, 224, 0, 2]), 15_000_000);
    const bodies = [
      Buffer.concat([picture.subarray(0, 2), segments, picture.subarray(2)]),
      Buffer.concat([Buffer.from([255, 216, 255, 218, 0, 2]), repeat(Buffer.from([255, 0]), 15_000_000)]),
      repeat(Buffer.from([255, 216, 255]), 15_000_000),
    ].map(zipped);
    return checks(await serveZipped(cleanup, bodies, 'image/jpeg'), bodies.length, 'jpg');
  },

  multipart: async (cleanup) => {
    const picture = makeMedia('-frames:v 1 -f mjpeg');
    const comment = Buffer.alloc(65_537);
    comment.set([255, 224, 255, 255]);
    const large = Buffer.concat([picture.subarray(0, 2), repeat(comment, 14_000_000), picture.subarray(2)]);
    const part = (body: Buffer) =>
      Buffer.concat([Buffer.from('--b\r\ncontent-type: image/jpeg\r\n\r\n'), body, Buffer.from('\r\n')]);
    const base = await serve(cleanup, [
      (response) => {
        response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=b' });
        response.write(part(picture));
        response.write(part(large));
        const timer = setInterval(() => response.write(part(picture)), 190);
        response.on('close', () => clearInterval(timer));
      },
      (response) => {
        response.writeHead(200, {
          'content-type': 'multipart/x-mixed-replace; boundary=b',
          'content-encoding': 'gzip',
        });
        response.end(zipped(repeat(part(picture), 60_000_000)));
      },
    ]);
    return ['clip', 'frames'].map((input_mode, index) =>
      check(`${base}/${index}/cam`, { input_mode, clip_duration_seconds: 10 }),
    );
  },

  sdp: async (cleanup) => {
    const descriptions = [
      'm=video 0 RTP/AVP 96\r\n'.repeat(2_500),
      `a=range:npt=${' '.repeat(60_000)}x\r\n`,
      'a=x\r\n'.repeat(12_000),
      `a=fmtp:96 ${'a=b;'.repeat(15_000)}\r\n`,
    ];
    const calls: SceneCall[] = [];
    for (const description of descriptions) {
      const server = await startScriptedServer(({ method }) =>
        method === 'DESCRIBE' ? { status: 200, body: `${liveSdp}${description}` } : { status: 200 },
      );
      cleanup.defer(() => server.close());
      calls.push(check(server.url));
    }
    return calls;
  },

  rtp: async (cleanup) => {
    // Floods of cameras would delay the calls of this process.
    const cameras = fork(new URL('hostile-cameras-process.ts', import.meta.url), { execArgv: [] });
    cleanup.defer(() => void cameras.kill());
    const [urls] = await once(cameras, 'message');
    return z
      .array(z.string())
      .parse(urls)
      .map((url) => check(url));
  },

  http: async (cleanup) => {
    const strict = 'HTTP/1.1 200 OK\r\n';
    const head = 'HTTP/1.1 200 OK\nno colon\n';
    const answers: RawAnswer[] = [
      { begin: `${strict}transfer-encoding: chunked\r\n\r\n`, flood: '1\r\nx\r\n'.repeat(10_000) },
      { begin: strict, flood: 'x: y\r\n'.repeat(10_000) },
      { begin: `${head}transfer-encoding: chunked\n\n`, flood: '1\r\nx\r\n'.repeat(10_000) },
      { begin: `${head}transfer-encoding: chunked\n\n`, flood: `1;${'x'.repeat(1_000)}\n#\n`.repeat(60) },
      { begin: head, flood: 'HTTP/1.1 100 Continue\n\n'.repeat(2_000) },
      { begin: head, flood: 'x: y\n'.repeat(10_000) },
      { begin: `${head}content-length: 7\ncontent-length: 8\n\n`, flood: '#\n'.repeat(30_000) },
      { begin: 'no head at all', flood: '#\n'.repeat(30_000) },
      { begin: head, flood: 'x' },
    ];
    const bases = await Promise.all(answers.map((answer) => serveRaw(cleanup, answer)));
    return bases.flatMap((base) => ['m3u8', 'jpg', 'mjpg'].map((kind) => check(`${base}/live.${kind}`)));
  },

  xml: async (cleanup) => {
    const envelope = (content: string) => `<E><Body>${content}</Body></E>`;
    const bodies = [
      '<a>'.repeat(100_000),
      '\r\n'.repeat(240_000),
      '<b/>'.repeat(120_000),
      '&'.repeat(490_000),
      '<!--'.repeat(120_000),
      `<b ${lines(45_000, (index) => `a${index}=""`)}/>`,
      `<b a="${'&amp;'.repeat(95_000)}"/>`,
      `<b a="${'>'.repeat(480_000)}"/>`,
      `<b a=${' '.repeat(480_000)}"x"/>`,
    ];
    // A camera has one path, so each is a server of its own.
    const cameras = bodies.map((body) => serve(cleanup, [(response) => response.end(envelope(body))]));
    return (await Promise.all(cameras)).map((base) => ({
      path: '/api/cameras/streams',
      body: { address: `${base}/onvif/device_service`, username: '', password: '' },
    }));
  },

  mcp: async () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const call = (given: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_watch","arguments":${given}}}`;
    const many = JSON.stringify(
      Object.fromEntries(Array.from({ length: 9_900 }, (_, index) => [`k${index}`, 1])),
    );
    return [
      nested(2_500_000),
      call(nested(1_000_000)),
      call(many),
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(5_000_000) }),
    ].map((body) => ({ path: '/mcp', body }));
  },
};

function check(streamUrl: string, fields: object = {}): SceneCall {
  return {
    path: '/api/check-once',
    body: { stream_url: streamUrl, condition: 'The picture is dark', input_mode: 'frames', ...fields },
  };
}

function checks(base: string, count: number, extension: string): SceneCall[] {
  return Array.from({ length: count }, (_, index) => check(`${base}/${index}/live.${extension}`));
}

/** Answer to any request, which floods without an end. */
type RawAnswer = { begin: string; flood: string };

async function serveRaw(cleanup: AsyncDisposableStack, { begin, flood }: RawAnswer): Promise<string> {
  const server = createSocketServer((socket) => {
    socket.setNoDelay().on('error', () => undefined);
    const send = (): void => {
      for (let writes = 0; writes < 100 && socket.writable && socket.writableLength < 1e6; writes += 1)
        socket.write(flood);
    };
    const timer = setInterval(send, 5);
    socket.once('data', () => void socket.write(begin)).on('close', () => clearInterval(timer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanup.defer(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

type Respond = (response: ServerResponse, path: string) => void;

/** Serves one body for each folder, elsewhere the first. Returns the URL of the folders. */
async function serve(cleanup: AsyncDisposableStack, bodies: Respond[]): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const [, index = '', path = ''] = /^\/(\d+)\/(.*)/.exec(url) ?? [url, '0', url];
    bodies[Number(index)]?.(response, path);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanup.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

function serveZipped(cleanup: AsyncDisposableStack, bodies: Buffer[], type = ''): Promise<string> {
  return serve(
    cleanup,
    bodies.map((body) => (response) => sendZipped(response, body, type)),
  );
}

function sendZipped(response: ServerResponse, body: Buffer, type = ''): void {
  response.writeHead(200, { 'content-encoding': 'gzip', ...(type && { 'content-type': type }) });
  response.end(body);
}

/** Serves a playlist for each segment, whose numbers grow with each request. */
function servePlaylists(
  cleanup: AsyncDisposableStack,
  segments: Buffer[],
  extension: string,
  initialization?: Buffer,
): Promise<string> {
  let sequence = 0;
  const map = initialization ? '#EXT-X-MAP:URI="init.mp4"\n' : '';
  return serve(
    cleanup,
    segments.map((segment) => (response, path) => {
      if (path === 'init.mp4') return void response.end(initialization);
      if (path.endsWith(extension)) return sendZipped(response, segment);
      sequence += 3;
      const listed = lines(3, (index) => `#EXTINF:2,\n${sequence + index}.${extension}`);
      response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:${sequence}\n${map}${listed}\n`);
    }),
  );
}

const { path: ffmpegPath } = await locateFfmpeg({
  setting: process.env['WATCHPOST_FFMPEG'],
  env: process.env,
});

/** Encodes two seconds, or a picture. */
function makeMedia(output: string): Buffer {
  const source =
    '-hide_banner -loglevel error -f lavfi -i testsrc=size=320x180:rate=25 -t 2 -pix_fmt yuvj420p';
  const codec = output.includes('mjpeg') ? '' : '-pix_fmt yuv420p -c:v libx264 -g 25';
  return execFileSync(ffmpegPath, `${source} ${codec} ${output} -`.split(/ +/), { maxBuffer: 1e8 });
}

/** Returns the first packet of a key frame. */
function findBegin(segment: Buffer): Buffer {
  for (let at = 0; at + packetBytes <= segment.length; at += packetBytes) {
    const packet = segment.subarray(at, at + packetBytes);
    if (isRandomAccess(packet)) return Buffer.from(packet);
  }
  throw new Error('The segment has no key frame');
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4);
  return Buffer.concat([head, content]);
}

/** Returns a fragment of 99,000 key frames in the same bytes: information of 4 kB without an end. */
function overlappingSamples(): Buffer {
  const information = Buffer.concat([Buffer.from([0, 0, 16, 0, 6]), Buffer.alloc(4095, 0xff)]);
  const header = Buffer.from([0, 2, 0, 0x20, 0, 0, 0, 1, 0, 0, 0, 0]);
  const fragment = (at: number) => {
    const run = Buffer.alloc(12);
    run.writeUInt32BE(1, 0);
    run.writeUInt32BE(99_000, 4);
    run.writeInt32BE(at, 8);
    const parts = [box('tfhd', header), box('tfdt', Buffer.alloc(8)), box('trun', run)];
    return box('moof', box('traf', Buffer.concat(parts)));
  };
  return Buffer.concat([fragment(fragment(0).length + 8), box('mdat', repeat(information, 200_000))]);
}
