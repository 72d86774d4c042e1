import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createOnvifCameras, type OnvifDeps } from '../../../adapters/onvif/cameras.ts';
import type { SetTimer } from '../../../core/time-limit.ts';
import {
  fireAfter,
  login,
  match,
  probeMatches,
  startSimulator,
  type SimulatorOptions,
} from '../../support/onvif/simulator.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const signal = new AbortController().signal;
/** Timer of a discovery that no camera answers. */
const unanswered = fireAfter(async () => undefined);

async function simulate(options?: SimulatorOptions) {
  const simulator = await startSimulator(options);
  closers.push(simulator.close);
  return simulator;
}

function open(options: Partial<OnvifDeps> = {}) {
  const cameras = createOnvifCameras({
    egress: { allowRanges: ['127.0.0.0/8'] },
    now: () => new Date(),
    setTimer: unanswered,
    ...options,
  });
  closers.push(cameras.close);
  return cameras;
}

/** Returns all that a camera has received, as one text. */
function received({ requests }: { requests: { path: string; headers: object; body: string }[] }): string {
  return requests.map(({ path, headers, body }) => `${path} ${JSON.stringify(headers)} ${body}`).join('\n');
}

const secrets = [
  login.password,
  encodeURIComponent(login.password),
  'pa&amp;ss',
  'pa&#38;ss',
  Buffer.from(`${login.username}:${login.password}`).toString('base64'),
];

describe('discovery', () => {
  test('a camera that answers is listed', async () => {
    const { address, udpPort, setTimer, probes, requests } = await simulate();
    const { cameras, outside } = await open({ port: udpPort, setTimer }).discover(signal);
    expect(cameras).toEqual([{ address, name: 'Yard camera', hardware: 'SIM-1' }]);
    expect(outside).toEqual([]);
    expect(probes).toHaveLength(2);
    expect(requests, 'a camera that was not chosen receives no request').toEqual([]);
  });

  test('a camera in no allowed range is neither asked nor listed', async () => {
    const { udpPort, probes } = await simulate();
    const found = await open({ port: udpPort, egress: { allowRanges: ['127.0.0.2/32'] } }).discover(signal);
    expect(found.cameras).toEqual([]);
    expect(probes).toEqual([]);
  });

  test('an answer from outside of the allowed ranges is ignored, and its sender is named', async () => {
    const { udpPort, setTimer } = await simulate({ answersFrom: '127.0.0.2' });
    const found = await open({ port: udpPort, setTimer, egress: { allowRanges: ['127.0.0.1'] } }).discover(
      signal,
    );
    expect(found).toMatchObject({ cameras: [], outside: ['127.0.0.2'] });
  });

  test('answers with addresses of other hosts, entities and texts beyond all bounds are ignored', async () => {
    const { address, udpPort, setTimer } = await simulate({
      datagrams: (own) => [
        probeMatches('', [match('http://127.0.0.9/onvif/device_service')]),
        probeMatches('', [match(own)]).replace('?>', '?><!DOCTYPE a [<!ENTITY x "y">]>'),
        '<html></html>',
        new Uint8Array(60_000),
        '',
        probeMatches('', [match(own)]),
      ],
    });
    const { cameras } = await open({ port: udpPort, setTimer }).discover(signal);
    expect(cameras.map((camera) => camera.address)).toEqual([address]);
  });

  test('a camera is found among 10 MB of other answers of its host', async () => {
    const { address, udpPort, setTimer } = await simulate({
      datagrams: (own) => [
        ...Array.from({ length: 160 }, () => new Uint8Array(65_000)),
        probeMatches('', [match(own)]),
      ],
    });
    const { cameras } = await open({ port: udpPort, setTimer }).discover(signal);
    expect(cameras.map((camera) => camera.address)).toEqual([address]);
  });

  test('1,000 answers of one host are 64 cameras', async () => {
    const answers = (own: string) =>
      Array.from({ length: 1000 }, (_, index) =>
        probeMatches('', [match(own.replace(/:\d+/, `:${index + 1}`))]),
      );
    const { udpPort, setTimer } = await simulate({ datagrams: answers });
    const { cameras } = await open({ port: udpPort, setTimer }).discover(signal);
    expect(cameras).toHaveLength(64);
  });

  test('a network without cameras has an empty list', async () => {
    const idle = createSocket('udp4');
    await new Promise<void>((resolve) => void idle.bind(0, '127.0.0.1', resolve));
    const { cameras } = await open({ port: idle.address().port }).discover(signal);
    idle.close();
    expect(cameras).toEqual([]);
  });

  test('a discovery ends with its signal', async () => {
    const { udpPort } = await simulate();
    const never: SetTimer = () => () => undefined;
    const discovery = open({ port: udpPort, setTimer: never }).discover(AbortSignal.abort(new Error('gone')));
    await expect(discovery).rejects.toThrow('gone');
  });
});

/** Returns a response with this body. */
const plain = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('streams of a camera', () => {
  const profile = (name: string, codec: string, size: readonly [number, number], stream: number) => ({
    name,
    codec,
    width: size[0],
    height: size[1],
    stream_url: `rtsp://127.0.0.1:8554/live?channel=1&stream=${stream}`,
    snapshot_url: stream === 1 ? null : 'http://127.0.0.1/snapshot.jpg',
  });
  const profiles2 = [profile('main', 'H265', [2560, 1440], 2), profile('sub', 'H264', [640, 360], 2)];
  const profiles1 = [profile('main', 'H264', [1920, 1080], 1)];
  /** Answers an operation, or each, and leaves the others to the simulator. */
  const answering =
    (odd: string | null, body: string | Uint8Array, status = 200): NonNullable<SimulatorOptions['answer']> =>
    (operation, response) => {
      if (odd !== null && operation !== odd) return false;
      response
        .on('error', () => undefined)
        .writeHead(status)
        .end(body);
      return true;
    };

  test.each<[string, SimulatorOptions]>([
    ['by a digest of WS-Security', { access: 'token' }],
    ['by a digest of WS-Security after a fault without a reason', { access: 'vague' }],
    ['by a digest of HTTP with MD5', { access: 'http' }],
    ['by a digest of HTTP with SHA-256', { access: 'http', algorithm: 'SHA-256' }],
    ['without a user', { access: 'open' }],
    [
      'although it states its local time only',
      { access: 'token', clockOffsetSeconds: -7_200, statesLocalTime: true },
    ],
    ['although it states a port that is closed', { access: 'token', statedPort: 9 }],
    ['although its clock is a day ahead', { access: 'token', clockOffsetSeconds: 86_400 }],
  ])('a camera is read %s, and its password is never sent', async (_, options) => {
    const simulator = await simulate(options);
    const streams = await open().readStreams(simulator.address, login, signal);
    expect(streams.profiles).toEqual(profiles2);
    expect(Math.abs((streams.clockOffsetSeconds ?? 0) - (options.clockOffsetSeconds ?? 0))).toBeLessThan(3);
    for (const secret of secrets) expect(received(simulator)).not.toContain(secret);
    expect(received(simulator)).not.toMatch(/basic/i);
  });

  test.each<[string, (body: string) => string]>([
    [
      'bytes before and behind the document',
      (body) => plain(`\r\n--part\r\nType: a\r\n\r\n${body}\0\r\n--part--`),
    ],
    ['signs that XML does not have', (body) => plain(body.replaceAll('>main<', '>ma\u0001in < 1 & 2<'))],
    [
      'a document type',
      (body) => plain(body.replace('?>', '?><!DOCTYPE x SYSTEM "http://a.example/x.dtd">')),
    ],
    ['attributes twice', (body) => plain(body.replaceAll(/ ([\w:]+="[^"]*")/g, ' $1 $1'))],
    ['addresses by TLS', (body) => plain(body.replaceAll('rtsp://', 'rtsps://'))],
    ['no prefixes', (body) => plain(body.replaceAll(/(<\/?)[\w-]+:/g, '$1'))],
    ['a length that is too long', (body) => `HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n${body}`],
    ['a length of 0', (body) => `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n${body}`],
    ['chunks without end', (body) => `${chunked}${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`],
    ['zeros in place of a head', (body) => `POST /onvif\0HTTP/1.1\0\0Host\0 a\r\n\r\n${body}`],
    ['a status of zeros', (body) => plain(body).replace('200', '000')],
    ['interim responses', (body) => `HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nLink: a\r\n\r\n${plain(body)}`],
  ])('a camera that writes %s is read', async (_, writes) => {
    const { address } = await simulate({ access: 'open', writes });
    expect((await open().readStreams(address, login, signal)).profiles[1]?.stream_url).toMatch(/^rtsps?:/);
  });

  test.each(['GetSnapshotUri', 'GetSystemDateAndTime'])(
    'a camera that closes at %s is read without it',
    async (odd) => {
      const { address } = await simulate({
        access: 'open',
        writes: (_, operation) => (operation === odd ? '' : undefined),
      });
      const { profiles } = await open().readStreams(address, login, signal);
      expect(profiles[0]?.stream_url).toMatch(/^rtsp:/);
    },
  );

  test('a request has its names in capitals, and its body in the first packet, as small servers need it', async () => {
    const packets: string[] = [];
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', (packet) => {
          packets.push(packet.toString());
          socket.end();
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await expect(open().readStreams(`127.0.0.1:${port}`, login, signal)).rejects.toThrow('ONVIF');
    expect(packets[0]).toMatch(/\r\nHost: .*\r\nContent-Length: \d+\r\n.*<\/s:Envelope>$/s);
  });

  test.each([275_760, 10_000])('a clock of the year %i is an error that names it', async (year) => {
    const clockOffsetSeconds = Math.round((new Date(0).setUTCFullYear(year, 7) - Date.now()) / 1000);
    const { address } = await simulate({ access: 'token', clockOffsetSeconds });
    await expect(open().readStreams(address, login, signal)).rejects.toMatchObject({
      code: 'STREAM_FETCH_FAILED',
      remediation: expect.stringContaining('it does not state a usable time'),
    });
  });

  const listBoth: SimulatorOptions['answer'] = (operation, response) => {
    const services = ['ver10', 'ver20'].map(
      (version) =>
        `<Service><Namespace>http://www.onvif.org/${version}/media/wsdl</Namespace><XAddr>http://${response.req.headers.host}/onvif/media</XAddr></Service>`,
    );
    const body = `<Envelope><Body><GetServicesResponse>${services.join('')}</GetServicesResponse></Body></Envelope>`;
    return answering('GetServices', body)(operation, response);
  };

  test.each<[string, SimulatorOptions]>([
    ['has no media 2', {}],
    ['lists media 2 and refuses it', { answer: listBoth }],
    ['knows no GetServices', { listsServices: false }],
  ])('a camera that %s is read by media 1', async (_, options) => {
    const { address } = await simulate({ versions: [1], ...options });
    expect((await open().readStreams(address, login, signal)).profiles).toEqual(profiles1);
  });

  test('a camera that refuses an operation in other words than SOAP is read without it', async () => {
    const answer = answering('GetSnapshotUri', 'unsupported operation', 400);
    const { address } = await simulate({ answer });
    const { profiles } = await open().readStreams(address, login, signal);
    expect(profiles.map(({ snapshot_url: url }) => url)).toEqual([null, null]);
  });

  test('addresses of other hosts that a camera states lead to itself', async () => {
    const other = await simulate();
    const { address, requests } = await simulate({ statedHost: '127.0.0.9' });
    const { profiles } = await open().readStreams(address, login, signal);
    expect(profiles.map(({ stream_url: url }) => new URL(url ?? '').hostname)).toEqual([
      '127.0.0.1',
      '127.0.0.1',
    ]);
    expect(requests.length).toBeGreaterThan(5);
    expect(other.requests).toEqual([]);
  });

  test('the digest of a wrong password is sent once, and three times to a camera with new challenges', async () => {
    for (const [access, digests] of [
      ['token', 1],
      ['http', 1],
      ['forever', 3],
    ] as const) {
      const { address, requests } = await simulate({ access });
      const wrong = { ...login, password: 'wrong' };
      const reading = open().readStreams(address, wrong, signal);
      await expect(reading).rejects.toMatchObject({
        message: 'The camera refused the user name or password',
        accessRefused: true,
      });
      const sent = requests.filter(
        ({ headers, body }) => headers.authorization ?? /UsernameToken/.exec(body),
      );
      expect(sent, access).toHaveLength(digests);
    }
  });

  test('a camera that asks for Basic authentication receives nothing of the user', async () => {
    const simulator = await simulate({ access: 'basic' });
    const reading = open().readStreams(simulator.address, login, signal);
    await expect(reading).rejects.toThrow('asks for the password in clear text');
    expect(simulator.requests.map(({ headers }) => headers.authorization)).not.toContain(expect.anything());
    expect(received(simulator)).not.toContain(login.username);
  });

  test('a refusal without a reason names password and firmware', async () => {
    const { address } = await simulate({ access: 'vague' });
    const reading = open().readStreams(address, { ...login, password: 'wrong' }, signal);
    await expect(reading).rejects.toMatchObject({
      message: 'The camera refused a request of ONVIF',
      remediation: expect.stringContaining('Check user name and password'),
    });
  });

  test('a camera that requires a user says so without one', async () => {
    for (const access of ['token', 'http'] as const) {
      const { address } = await simulate({ access });
      await expect(open().readStreams(address, null, signal)).rejects.toMatchObject({
        remediation: expect.stringContaining('requires a user name'),
      });
    }
  });

  test('a redirect is not followed', async () => {
    const other = await simulate();
    const { address } = await simulate({
      answer: (_, response) => {
        response.writeHead(307, { location: `http://${other.address}/onvif/device_service` }).end();
        return true;
      },
    });
    await expect(open().readStreams(address, login, signal)).rejects.toThrow('does not answer as ONVIF');
    expect(other.requests).toEqual([]);
  });

  test.each<[string, string | Uint8Array]>([
    ['HTML', '<!doctype html><html></html>'],
    [
      'entities that multiply',
      `<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(1000)}">]><Envelope><Body><x>&b;</x></Body></Envelope>`,
    ],
    ['entities behind another document type', '<!DOCTYPE a><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['10 MB', new Uint8Array(10_000_000)],
    ['nothing', ''],
    ['XML of another kind', '<rss></rss>'],
    ['an endless depth', '<a>'.repeat(100_000)],
    ['endless instructions', `<a>${'<?a?>'.repeat(90_000)}</a>`],
    ['endless references', `<a>${'&#65;'.repeat(90_000)}</a>`],
  ])('an answer of %s is refused as no ONVIF', async (_, content) => {
    const { address } = await simulate({ answer: answering(null, content) });
    await expect(open().readStreams(address, login, signal)).rejects.toMatchObject({
      message: 'The address does not answer as ONVIF',
      remediation: expect.stringContaining('Enable ONVIF'),
    });
  });

  test('1,000 profiles are 16, and their texts are bounded', async () => {
    const oneProfile = `<Profiles token="t"><Name>${'n'.repeat(300)}</Name><VideoEncoderConfiguration><Encoding>H264</Encoding><Resolution><Width>99999999999</Width><Height>-1</Height></Resolution></VideoEncoderConfiguration></Profiles>`;
    const body = `<Envelope><Body><r>${oneProfile.repeat(900)}</r></Body></Envelope>`;
    const { address } = await simulate({ access: 'open', answer: answering('GetProfiles', body) });
    const { profiles } = await open().readStreams(address, login, signal);
    expect(profiles).toHaveLength(16);
    expect(profiles[0]).toMatchObject({ name: 'n'.repeat(100), width: null, height: null });
  });

  test('a port where nothing listens is no ONVIF', async () => {
    const { address, close } = await startSimulator();
    await close();
    await expect(open().readStreams(address, login, signal)).rejects.toThrow('does not answer as ONVIF');
  });

  test('a path that no camera states is refused before a request, one that the camera states in a discovery is read', async () => {
    const { address, udpPort, setTimer, requests } = await simulate({ path: '/device' });
    const cameras = open({ port: udpPort, setTimer });
    const reading = cameras.readStreams(`http://${address}/admin/reboot?now=1`, login, signal);
    await expect(reading).rejects.toMatchObject({
      code: 'INVALID_URL',
      remediation: expect.stringContaining('No camera states this path'),
    });
    expect(requests).toEqual([]);
    expect((await cameras.readStreams(`http://${address}/device`, login, signal)).profiles).not.toEqual([]);
  });

  test('a slow camera is given up with the signal', async () => {
    const { address } = await simulate({ answer: () => true });
    const aborted = AbortSignal.timeout(100);
    await expect(open().readStreams(address, login, aborted)).rejects.toThrow('did not answer in time');
  });

  test.each([
    ['192.168.1.20', 'outside of the allowed ranges'],
    ['8.8.8.8', 'outside of the allowed ranges'],
    ['169.254.169.254', 'no setting opens'],
    ['http://user:secret@127.0.0.1/', 'fields of their own'],
    ['https://127.0.0.1/', 'http://'],
    ['file:///etc/passwd', 'http://'],
    ['127.0.0.1:99999', 'a port from 1 to 65535'],
    ['a b', 'complete URL'],
  ])('the address %s is refused before a request', async (address, reason) => {
    await expect(open().readStreams(address, login, signal)).rejects.toMatchObject({
      code: 'INVALID_URL',
      remediation: expect.stringMatching(new RegExp(`^address: .*${reason}`)),
    });
  });
});
