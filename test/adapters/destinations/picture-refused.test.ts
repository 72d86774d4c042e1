import { createServer as createTcpServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import { createSmtpSender } from '../../../adapters/destinations/email/smtp.ts';
import { createHttpSender } from '../../../adapters/destinations/http-sender.ts';
import { createPublisher } from '../../../adapters/destinations/mqtt/publish.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { destinationTypeSchema, type DestinationType } from '../../../core/records/watch.ts';
import type { Notification } from '../../../core/ports/delivery.ts';
import { listen, startReceiver } from './receiver.ts';
import { frame, notify } from './notifications.ts';

/** Messages that a receiver accepts only without their picture, or only without something else. */

type Refusal = {
  type: DestinationType;
  name: string;
  status?: number;
  how?: 'destroy' | 'end';
  reply?: string;
};

const elapsedMs = () => performance.now();
const notification = notify('alert_opened', { frameUrl: 'https://watch.example/e.jpg', includeFrame: true });

/** Tells whether a request has its picture, in the format of any type. */
function isWithPicture(type: DestinationType, headers: Record<string, unknown>, body: string): boolean {
  if (type === 'ntfy') return headers['filename'] !== undefined;
  if (type === 'telegram') return body.includes('name="photo"');
  if (type === 'discord') return body.includes('filename="frame.jpg"');
  if (type === 'webhook') return body.includes(`"frame_b64":"${Buffer.from(frame).toString('base64')}"`);
  if (type === 'slack') return body.includes('image_url');
  return body.includes('"images":');
}

async function send(
  type: DestinationType,
  url: string,
  sent: Notification = notification,
  timeoutSeconds = 30,
) {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 as const }];
  const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'], lookup });
  const http = createGuardedHttp(guard);
  onTestFinished(() => http.close());
  const destinations = createDestinations({
    http: createHttpSender({ http, version: '1', elapsedMs, timeoutSeconds }),
    signer: { sign: async () => ({}), secret: async () => '', fingerprintKey: async () => '' },
    now: () => new Date(0),
    publish: createPublisher({ guard, elapsedMs }),
    mail: {
      send: createSmtpSender({ url, from: 'watch@example.com', elapsedMs }),
      recipients: ['guard@example.com'],
    },
  });
  const address = type === 'email' ? { to: 'guard@example.com' } : { url, routing_key: 'k'.repeat(32) };
  return destinations.send({ destination_id: 'd', type, ...address }, sent);
}

const refusals: Refusal[] = [
  { type: 'webhook', name: '413', status: 413 },
  { type: 'webhook', name: 'a closed connection', how: 'destroy' },
  { type: 'slack', name: '400 invalid_blocks', status: 400 },
  { type: 'discord', name: '413', status: 413 },
  { type: 'discord', name: 'a closed connection', how: 'destroy' },
  { type: 'ntfy', name: '400 of a server without attachments', status: 400 },
  { type: 'ntfy', name: '413', status: 413 },
  { type: 'ntfy', name: '429 of the daily bytes', status: 429 },
  { type: 'telegram', name: '400 of a chat without pictures', status: 400 },
  { type: 'telegram', name: '413', status: 413 },
  { type: 'pagerduty', name: '400', status: 400 },
  { type: 'email', name: '552 after the data', reply: '552 5.3.4 Message too big' },
  { type: 'email', name: '554 for its content', reply: '554 5.6.0 Attachment refused' },
  { type: 'mqtt', name: 'a reset of the connection', how: 'destroy' },
  { type: 'mqtt', name: 'an orderly end of the connection', how: 'end' },
];

describe('picture that a receiver refuses', () => {
  test('each type of destination with a picture has a refusal here', () => {
    const types = destinationTypeSchema.options.filter((type) => type !== 'heartbeat');
    expect(new Set(refusals.map(({ type }) => type))).toEqual(new Set(types));
  });

  test.each(refusals)('$type delivers the alert without its picture after $name', async (refusal) => {
    const { type } = refusal;
    const receiver = await startRefusing(refusal);
    expect(await send(type, receiver.url)).toMatchObject({ outcome: 'delivered', isPictureRefused: true });
    expect(receiver.messages).toEqual(type === 'mqtt' ? ['text'] : ['picture', 'text']);
  });

  test('a large film that a connection does not send in time is left out, and a picture is sent again later', async () => {
    const sendFilm = async (bytes: number) => {
      // Stops at the first message.
      const { url, received } = await startReceiver((_, response) => {
        if (received.length > 1) response.writeHead(200).end('{}');
      });
      const film = notify('alert_clip', { frame: Buffer.alloc(bytes) });
      return (await send('telegram', url, film, 0.3)).outcome;
    };
    expect(await Promise.all([1_000_000, 900_000].map(sendFilm))).toEqual(['delivered', 'retry']);
  });

  test.each(['slack', 'discord', 'ntfy', 'telegram', 'pagerduty', 'webhook'] as const)(
    'a message of %s without a picture, and one that is refused without it too, are sent no third time',
    async (type) => {
      const { url, received } = await startReceiver((_, response) => void response.writeHead(413).end());
      const closing = notify('alert_acknowledged', { frame: null, frameUrl: null });
      expect((await send(type, url, closing)).outcome).not.toBe('delivered');
      expect(received).toHaveLength(1);
      expect((await send(type, url)).outcome).not.toBe('delivered');
      expect(received).toHaveLength(3);
    },
  );
});

describe('states at a broker that closes the connection', () => {
  const removed = notify('alert_closed', { frame: null, conditions: [] }, { reason: 'removed' });

  test.each([
    ['an opening', notification],
    ['an event without a picture', notify('alert_acknowledged', { frame: null })],
    ['a condition that is removed', removed],
    ['a watch that is deleted', { ...removed, current: null }],
  ])('a broker that keeps nothing gets %s once, and has refused no picture', async (_, sent) => {
    const broker = await startBroker('keeps nothing');
    const result = await send('mqtt', broker.url, sent);
    expect(result).toMatchObject({ outcome: 'delivered' });
    expect(result).not.toHaveProperty('isPictureRefused');
    expect(broker.messages).toEqual(['text']);
  });

  test.each(['restarts', 'closes at another state'] as const)(
    'an event is sent again later to a broker that %s',
    async (how) => {
      const broker = await startBroker(how);
      const result = await send('mqtt', broker.url);
      expect(result).toMatchObject({ outcome: 'retry' });
      expect(result).not.toHaveProperty('isPictureRefused');
    },
  );

  test('a broker that closes once gets the states that are left over a second connection', async () => {
    const broker = await startBroker('closes once');
    const result = await send('mqtt', broker.url);
    expect(result).toMatchObject({ outcome: 'delivered' });
    expect(result).not.toHaveProperty('isPictureRefused');
    expect(broker.messages).toEqual(['text']);
    const names = broker.kept.map((topic) => topic.split('/').slice(2).join('/'));
    expect(names).toEqual(expect.arrayContaining(['stream', 'condition/truck', 'availability', 'frame']));
  });
});

describe('refusal of an e-mail', () => {
  test.each([
    ['RCPT', '550 5.1.1 User unknown', 'gone'],
    ['RCPT', '550 #5.1.1 User unknown', 'gone'],
    ['RCPT', '553 5.1.3 Bad address', 'gone'],
    ['RCPT', '550 No such user here', 'gone'],
    ['RCPT', '550 5.2.1 Mailbox disabled', 'retry'],
    ['RCPT', '550 5.1.10 RESOLVER.ADR.RecipientNotFound', 'gone'],
    ['RCPT', '550 5.1.6 Mailbox has moved', 'gone'],
    ['RCPT', '550 5.1.2 Host unknown', 'retry'],
    ['RCPT', '550 5.4.1 Recipient address rejected: Access denied', 'retry'],
    ['RCPT', '550 5.5.0 Requested action not taken: mailbox unavailable', 'retry'],
    ['RCPT', '550 <unknown-user@x.example> refused today', 'retry'],
    ['RCPT', '550 Not today', 'retry'],
    ['RCPT', '551 User not local; please try another path', 'retry'],
    ['RCPT', '553 Mailbox name not allowed', 'retry'],
    ['RCPT', '550 Invalid HELO name of an unknown user', 'retry'],
    ['RCPT', '550 Sender verify failed: unrouteable address', 'retry'],
    ['RCPT', '550 sorry, no mailbox here by that name. (#5.7.17)', 'gone'],
    ['RCPT', '550 Unrouteable address', 'gone'],
    ['RCPT', '550 guard@example.com... User unknown', 'gone'],
    [
      'RCPT',
      '550 <guard@example.com>: Recipient address rejected: User unknown in local recipient table',
      'gone',
    ],
    ['RCPT', "550 Requested action not taken: This user doesn't have a yahoo.com account", 'gone'],
    [
      'RCPT',
      '550 Message was not accepted -- invalid mailbox. Local mailbox is unavailable: user not found',
      'gone',
    ],
    ['RCPT', '550 5.4.5 Daily user sending limit exceeded', 'retry'],
    ['RCPT', '550 5.7.1 Relaying denied', 'retry'],
    ['RCPT', '550 5.7.26 Unauthenticated sender', 'retry'],
    ['RCPT', '550 Relay not permitted', 'retry'],
    ['RCPT', '554 5.7.1 Client host blocked', 'retry'],
    ['RCPT', '552 5.2.2 Mailbox full', 'retry'],
    ['RCPT', '550 Requested action not taken: mailbox unavailable', 'retry'],
    ['RCPT', "550 The account doesn't exist", 'gone'],
    ['RCPT', '550 Blacklisted at rbl.example', 'retry'],
    ['RCPT', '550 Greylisted', 'retry'],
    ['RCPT', '550 Unknown client, no reverse name', 'retry'],
    ['RCPT', '550 Must issue a STARTTLS command first', 'retry'],
    ['RCPT', '550 Administrative prohibition', 'retry'],
    ['RCPT', '450 4.2.1 Try later', 'retry'],
    ['MAIL', '553 5.7.1 Sender address rejected: not owned by user', 'retry'],
    ['MAIL', '550 5.1.8 Sender domain not found', 'retry'],
    ['MAIL', '501 5.1.7 Bad sender address', 'retry'],
    ['MAIL', '550 5.1.1 Sender unknown', 'retry'],
    ['DATA', '550 5.4.5 Daily sending quota exceeded', 'retry'],
    ['END', '550 5.7.1 Daily limit', 'retry'],
    ['END', '550 5.4.5 Daily limit', 'retry'],
    ['END', '553 5.7.1 Sender refused', 'retry'],
    ['END', '554 5.7.1 Spam', 'rejected'],
    ['END', '552 5.3.4 Too large', 'rejected'],
    ['END', '552 sorry, that message size exceeds my limit (#5.3.4)', 'rejected'],
    ['END', '552 Requested mail action aborted', 'rejected'],
    ['RCPT', '552 Requested mail action aborted: mailbox full', 'retry'],
    ['RCPT', '552 exceeded storage allocation', 'retry'],
    ['END', '554 5.7.1 Sending quota exceeded', 'retry'],
    ['END', '554 Too many messages, try later', 'retry'],
    ['END', '451 4.3.0 Try later', 'retry'],
  ])('the reply after %s, "%s", is %s', async (step, reply, outcome) => {
    const { url } = await startMailServer({ refuses: (at) => (at === step ? reply : undefined) });
    expect(await send('email', url)).toMatchObject({ outcome, status: Number(reply.slice(0, 3)) });
  });
});

/** Starts a receiver that refuses a picture, and lists what it got. */
async function startRefusing({ type, status = 200, how, reply }: Refusal) {
  if (type === 'mqtt') return startBroker(how ?? 'destroy');
  if (type === 'email')
    return startMailServer({
      refuses: (step, data) => (step === 'END' && data.includes('frame.jpg') ? reply : undefined),
    });
  const messages: string[] = [];
  const { url, received } = await startReceiver((request, response) => {
    const { headers, body } = received.at(-1)!;
    const hasPicture = isWithPicture(type, headers, body);
    messages.push(hasPicture ? 'picture' : 'text');
    if (hasPicture && how) request.socket.destroy();
    else response.writeHead(hasPicture ? status : 200).end();
  });
  return { url, messages };
}

/** Starts an SMTP server that answers a step (`MAIL`, `RCPT`, `DATA`, or `END` of the data) with a refusal. */
async function startMailServer({ refuses }: { refuses: (step: string, data: string) => string | undefined }) {
  const messages: string[] = [];
  const server = createTcpServer((socket) => {
    let data: string | undefined;
    let buffer = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    const takeLine = (line: string) => {
      const step = line.slice(0, 4).toUpperCase();
      const refusal = refuses(step, '');
      if (refusal) return say(refusal);
      if (step === 'DATA') data = '';
      if (step === 'EHLO') return say('250 mail.example');
      return say(step === 'DATA' ? '354 go' : step === 'QUIT' ? '221 bye' : '250 2.0.0 ok');
    };
    socket.on('error', () => undefined);
    say('220 mail.example');
    socket.on('data', (chunk) => {
      buffer += chunk.toString('latin1');
      for (;;) {
        const end = data === undefined ? '\r\n' : '\r\n.\r\n';
        const at = buffer.indexOf(end);
        if (at === -1) return;
        const text = buffer.slice(0, at);
        buffer = buffer.slice(at + end.length);
        if (data === undefined) takeLine(text);
        else {
          messages.push(text.includes('frame.jpg') ? 'picture' : 'text');
          data = undefined;
          say(refuses('END', text) ?? '250 2.0.0 queued');
        }
      }
    });
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return { url: `smtp://127.0.0.1:${port}`, messages };
}

/**
 * When a broker ends the connection: at the picture, at each message that it shall keep, at the first of them and for
 * good, at the first of them once, or at the state of the stream first and at that of a condition then.
 */
type Ending =
  | NonNullable<Refusal['how']>
  | 'keeps nothing'
  | 'restarts'
  | 'closes once'
  | 'closes at another state';

/** Starts a broker that ends the connection. Lists its events, and the topics that it keeps. */
async function startBroker(how: Ending) {
  const messages: string[] = [];
  const kept: string[] = [];
  let closed = 0;
  const isClosedAt = (topic: string): boolean => {
    if (how === 'keeps nothing') return true;
    if (how === 'closes at another state') return topic.endsWith(closed === 0 ? '/stream' : '/truck');
    if (how === 'restarts') server.close();
    return (how === 'restarts' || how === 'closes once') && closed === 0;
  };
  const server = createTcpServer((socket) => {
    let buffer = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      buffer = Buffer.concat([buffer, chunk]);
      for (;;) {
        const [length, at] = readLength(buffer);
        if (length === undefined || buffer.length < at + length) return;
        const kind = buffer[0]! >> 4;
        const isKept = (buffer[0]! & 1) === 1;
        const body = buffer.subarray(at, at + length);
        buffer = buffer.subarray(at + length);
        if (kind === 1) socket.write(Uint8Array.of(0x20, 2, 0, 0));
        if (kind !== 3) continue;
        const size = body.readUInt16BE(0);
        const topic = body.subarray(2, 2 + size).toString();
        if (isKept && isClosedAt(topic)) {
          closed += 1;
          return void socket.destroy();
        }
        if (topic.endsWith('/frame') && (how === 'end' || how === 'destroy')) return void socket[how]();
        if (isKept) kept.push(topic);
        if (topic.endsWith('/event') && topic.split('/').length === 3) messages.push('text');
        socket.write(Uint8Array.of(0x40, 2, body[2 + size]!, body[3 + size]!));
      }
    });
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return { url: `mqtt://127.0.0.1:${port}`, messages, kept };
}

/** Returns the remaining length of an MQTT message and where it begins. */
function readLength(buffer: Buffer): [length: number | undefined, at: number] {
  let length = 0;
  for (let at = 1; at < Math.min(buffer.length, 5); at += 1) {
    length += (buffer[at]! & 127) << (7 * (at - 1));
    if (buffer[at]! < 128) return [length, at + 1];
  }
  return [undefined, 0];
}
