import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from 'node:tls';
import { Aedes } from 'aedes';
import { SMTPServer } from 'smtp-server';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import { toMail } from '../../../adapters/destinations/email/email.ts';
import { createSmtpSender } from '../../../adapters/destinations/email/smtp.ts';
import { createPublisher } from '../../../adapters/destinations/mqtt/publish.ts';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createHttpSender } from '../../../adapters/destinations/http-sender.ts';
import { createWebhookSigner } from '../../../adapters/signers.ts';
import type { Notification } from '../../../core/ports/delivery.ts';
import type { DestinationAddress } from '../../../core/records/watch.ts';
import { selfSigned } from '../egress/self-signed.ts';
import { alertId, frame, notify, watchId } from './notifications.ts';

/** Whole requests against local servers that speak the protocol of each destination. */

const signer = createWebhookSigner({ masterSecret: new Uint8Array(32) });
const elapsedMs = () => performance.now();

describe('destinations over HTTP', () => {
  test('a webhook is signed, so that the public library accepts it', async () => {
    const vendor = await startVendor(204);
    const result = await send({ type: 'webhook', url: vendor.url }, { now: () => new Date() });
    expect(result).toMatchObject({ status: 204, outcome: 'delivered' });
    const [{ body, headers }] = vendor.received as [Received];
    expect(new Webhook(await signer.secret('harbour')).verify(body.toString(), headers)).toMatchObject({
      type: 'alert_opened',
      data: { alert_id: alertId },
    });
  });

  test('Slack, Discord, ntfy and PagerDuty receive their format at the given address', async () => {
    const vendor = await startVendor(200);
    const { url } = vendor;
    for (const address of [
      { type: 'slack', url },
      { type: 'discord', url },
      { type: 'ntfy', url, token: 'tk_1' },
      { type: 'pagerduty', url, routing_key: 'k'.repeat(32) },
    ] as const)
      expect(await send(address)).toMatchObject({ status: 200, outcome: 'delivered', error: null });
    const [slack, discord, ntfy, pagerduty] = vendor.received as [Received, Received, Received, Received];
    expect(JSON.parse(slack.body.toString()).blocks[0].text.text).toBe('Gate 3: A truck blocks the gate');
    const form = await new Response(Buffer.from(discord.body), { headers: discord.headers }).formData();
    expect((form.get('files[0]') as File).size).toBe(frame.length);
    expect(ntfy.headers).toMatchObject({
      priority: '5',
      filename: 'frame.jpg',
      authorization: 'Bearer tk_1',
    });
    expect(new Uint8Array(ntfy.body)).toEqual(frame);
    expect(JSON.parse(pagerduty.body.toString())).toMatchObject({
      event_action: 'trigger',
      dedup_key: alertId,
    });
  });

  test('a heartbeat is a GET that contains nothing about the watch', async () => {
    const vendor = await startVendor(200);
    expect(await send({ type: 'heartbeat', url: vendor.url })).toMatchObject({ outcome: 'delivered' });
    expect(vendor.received[0]).toMatchObject({ method: 'GET', body: Buffer.alloc(0) });
    const down = await startVendor(404);
    // The next check makes another call.
    expect(await send({ type: 'heartbeat', url: down.url })).toMatchObject({ outcome: 'rejected' });
  });

  test('a rate limit is retried after the time of the vendor, and a deleted address is gone', async () => {
    const limited = await startVendor(429, { 'retry-after': '7' });
    expect(await send({ type: 'discord', url: limited.url })).toMatchObject({
      outcome: 'retry',
      retryAfter: '7',
    });
    const deleted = await startVendor(404);
    expect(await send({ type: 'slack', url: deleted.url })).toMatchObject({ status: 404, outcome: 'gone' });
  });

  test('an address that the guard refuses receives nothing, and the error does not name it', async () => {
    const vendor = await startVendor(204);
    for (const type of ['webhook', 'slack', 'discord', 'ntfy', 'mqtt'] as const) {
      const url = type === 'mqtt' ? vendor.url.replace('http', 'mqtt') : vendor.url;
      const result = await send({ type, url }, { allowRanges: [] });
      expect(result).toMatchObject({
        status: null,
        outcome: 'retry',
        error: expect.any(String),
        latencyMs: 0,
      });
      expect(result.error).not.toContain('127.0.0.1');
    }
    expect(vendor.received).toEqual([]);
  });
});

describe('e-mail', () => {
  test('an allowed recipient receives subject, text and frame', async () => {
    const server = await startMailServer();
    const result = await send({ type: 'email', to: 'guard@example.com' }, { smtp: server.url });
    expect(result).toMatchObject({ status: 250, outcome: 'delivered' });
    const [mail] = server.mails as [ReceivedMail];
    expect(mail.to).toEqual(['guard@example.com']);
    expect(mail.text).toContain('Subject: Gate 3: A truck blocks the gate');
    // A later mail about the alert answers it.
    expect(mail.text).toContain(`Message-ID: ${result.receipt}`);
    expect(mail.text).toContain(Buffer.from(frame).toString('base64'));
  });

  test('a recipient that the operator does not allow receives nothing and disables the destination', async () => {
    const server = await startMailServer();
    const result = await send({ type: 'email', to: 'other@evil.example' }, { smtp: server.url });
    expect(result).toMatchObject({ outcome: 'gone', error: 'The operator does not allow this recipient' });
    expect(server.mails).toEqual([]);
  });

  test.each([
    { code: 550, outcome: 'retry' },
    { code: 552, outcome: 'retry' },
    { code: 451, outcome: 'retry' },
  ])('a reply $code to the recipient is $outcome', async ({ code, outcome }) => {
    const server = await startMailServer(code);
    expect(await send({ type: 'email', to: 'guard@example.com' }, { smtp: server.url })).toMatchObject({
      status: code,
      outcome,
      error: `The SMTP server answered ${code}`,
    });
  });

  test('a server whose certificate is not trusted is named', async () => {
    const server = await startMailServer(undefined, { secure: true });
    const url = server.url.replace('smtp:', 'smtps:');
    expect(await send({ type: 'email', to: 'guard@example.com' }, { smtp: url })).toMatchObject({
      outcome: 'retry',
      error: expect.stringContaining('certificate of the SMTP server is not trusted'),
    });
  });

  test('a password is sent over TLS only, except to a server on the same machine', async () => {
    const server = await startMailServer();
    const login = server.url.replace('//', '//home:secret@');
    const elsewhere = await send(
      { type: 'email', to: 'guard@example.com' },
      { smtp: login.replace('127.0.0.1', '0.0.0.0') },
    );
    expect(elsewhere).toMatchObject({ outcome: 'retry', error: expect.stringContaining('offers no TLS') });
    expect(server.logins).toEqual([]);
    const here = await send({ type: 'email', to: 'guard@example.com' }, { smtp: login });
    expect(here).toMatchObject({ outcome: 'delivered' });
    expect(server.logins).toEqual(['home']);
  });

  test('a server that answers without end is given up after the time limit of the whole e-mail', async () => {
    const endless = createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('220-mail\r\n'), 20);
      socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    });
    const url = `smtp://127.0.0.1:${await listen(endless)}`;
    const mail = createSmtpSender({ url, from: 'watchpost@example.com', elapsedMs, timeoutSeconds: 0.3 });
    expect(await mail(toMail('guard@example.com', notify('alert_opened')))).toMatchObject({
      outcome: 'retry',
      error: 'The SMTP server did not answer in time',
    });
  });

  test('a server that is down is retried, and a service without one disables the destination', async () => {
    const down = await send({ type: 'email', to: 'guard@example.com' }, { smtp: 'smtp://127.0.0.1:1' });
    expect(down).toMatchObject({ status: null, outcome: 'retry' });
    expect(await send({ type: 'email', to: 'guard@example.com' })).toMatchObject({ outcome: 'gone' });
  });
});

describe('MQTT', () => {
  test('a broker receives the entities, the state and the image, and keeps them', async () => {
    const broker = await startBroker();
    const result = await send({ type: 'mqtt', url: broker.url });
    expect(result).toMatchObject({ outcome: 'delivered', error: null });
    const retained = new Map(
      broker.published.filter(({ retain }) => retain).map((each) => [each.topic, each]),
    );
    expect(retained.get(`watchpost/${watchId}/condition/truck`)?.payload.toString()).toBe('ON');
    expect(new Uint8Array(retained.get(`watchpost/${watchId}/frame`)!.payload)).toEqual(frame);
    const entities = [...retained].filter(([topic]) => topic.startsWith('homeassistant/'));
    expect(entities).toHaveLength(3);
    // The service may end without a word.
    for (const [topic, { payload }] of entities)
      expect(JSON.parse(payload.toString())).toMatchObject({
        availability_topic: `watchpost/${watchId}/availability`,
        ...(topic.includes('/binary_sensor/') && { expire_after: 900 }),
      });
    expect(retained.get(`watchpost/${watchId}/availability`)?.payload.toString()).toBe('online');
  });

  test('a broker that subscribes its clients to topics receives the messages', async () => {
    const broker = await startBroker({ subscribes: true });
    expect(await send({ type: 'mqtt', url: broker.url })).toMatchObject({ outcome: 'delivered' });
    expect(broker.published.at(-1)?.topic).toBe(`watchpost/${watchId}/frame`);
  });

  test('a broker that states a length without an end is not waited for', async () => {
    const messages = Buffer.from([0x20, 2, 0, 0, 0x30, 0xff, 0xff, 0xff, 0xff]);
    const port = await listen(
      createTcpServer((socket) => socket.on('error', () => undefined).write(messages)),
    );
    expect(await send({ type: 'mqtt', url: `mqtt://127.0.0.1:${port}` })).toMatchObject({
      outcome: 'retry',
      error: 'The broker sent too much',
    });
  });

  test('a broker that refuses the password is a failure that says so', async () => {
    const broker = await startBroker({ password: 'right' });
    const refused = await send({ type: 'mqtt', url: broker.url.replace('//', '//home:wrong@') });
    expect(refused).toMatchObject({ outcome: 'retry', error: expect.stringContaining('Connection refused') });
    const accepted = await send({ type: 'mqtt', url: broker.url.replace('//', '//home:right@') });
    expect(accepted).toMatchObject({ outcome: 'delivered' });
  });

  test('a broker with TLS receives the messages if its certificate is trusted and names the host', async () => {
    const broker = await startBroker({ tls: selfSigned });
    const named = { type: 'mqtt', url: broker.url.replace('127.0.0.1', 'cam.example') } as const;
    expect(await send(named)).toMatchObject({ outcome: 'retry', error: 'TLS certificate is not valid' });
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, selfSigned.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    expect(await send(named)).toMatchObject({ outcome: 'delivered' });
    expect(await send({ type: 'mqtt', url: broker.url })).toMatchObject({
      outcome: 'retry',
      error: 'TLS certificate is not valid',
    });
  });

  test('a server that accepts a connection and says nothing times out', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => undefined));
    const port = await listen(silent);
    const publish = createPublisher({ guard: guardFor(['127.0.0.0/8']), elapsedMs, timeoutSeconds: 0.2 });
    expect(await publish(`mqtt://127.0.0.1:${port}`, [])).toMatchObject({
      outcome: 'retry',
      error: 'The broker did not answer in time',
    });
  });

  test('an MQTT user with a malformed escape fails before a connection is open', async () => {
    let connections = 0;
    const port = await listen(createTcpServer(() => (connections += 1)));
    const publish = createPublisher({ guard: guardFor(['127.0.0.0/8']), elapsedMs });
    expect(await publish(`mqtt://a%zz:pw@127.0.0.1:${port}`, [])).toMatchObject({ outcome: 'retry' });
    expect(connections).toBe(0);
  });
});

type Received = { method: string; headers: Record<string, string>; body: Buffer };
type ReceivedMail = { to: string[]; text: string };
type SendOptions = { allowRanges?: string[]; smtp?: string; now?: () => Date; notification?: Notification };

function guardFor(allowRanges: string[]) {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 as const }];
  return createEgressGuard({ allowRanges, lookup });
}

function send(address: Omit<DestinationAddress, 'destination_id'>, options: SendOptions = {}) {
  const guard = guardFor(options.allowRanges ?? ['127.0.0.0/8']);
  const http = createGuardedHttp(guard);
  onTestFinished(() => http.close());
  const destinations = createDestinations({
    http: createHttpSender({ http, version: '1.2.3', elapsedMs }),
    signer,
    now: options.now ?? (() => new Date('2026-03-01T12:00:00.000Z')),
    publish: createPublisher({ guard, elapsedMs }),
    ...(options.smtp !== undefined && {
      mail: {
        send: createSmtpSender({ url: options.smtp, from: 'watchpost@example.com', elapsedMs }),
        recipients: ['guard@example.com'],
      },
    }),
  });
  const { notification = notify('alert_opened') } = options;
  return destinations.send({ destination_id: 'd', ...address }, notification);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function startVendor(status: number, headers: Record<string, string> = {}) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        method: request.method ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks),
      });
      response.writeHead(status, headers).end('{}');
    });
  });
  return { url: `http://127.0.0.1:${await listen(server)}/hook`, received };
}

/** Starts an SMTP server. With `refusal`, it refuses each recipient with this code. */
async function startMailServer(refusal?: number, options: { secure?: true } = {}) {
  const mails: ReceivedMail[] = [];
  const logins: (string | undefined)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ username }, _, done) => {
      logins.push(username);
      done(null, { user: username });
    },
    ...options,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_, __, done) =>
      refusal === undefined ? done() : done(Object.assign(new Error('refused'), { responseCode: refusal })),
    onData: (stream: NodeJS.ReadableStream, session: any, done: () => void) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }: { address: string }) => address);
        mails.push({ to, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  // A client that refuses the certificate is an error of the server too.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, mails, logins };
}

/** `subscribes`: the broker sends its clients messages that they did not ask for. */
type BrokerOptions = { password?: string; tls?: TlsOptions; subscribes?: boolean };

async function startBroker({ password, tls, subscribes }: BrokerOptions = {}) {
  const published: { topic: string; payload: Buffer; retain: boolean }[] = [];
  const broker = await Aedes.createBroker({
    authenticate: (_, __, given, done) =>
      done(
        password === undefined || given?.toString() === password
          ? null
          : Object.assign(new Error('refused'), { returnCode: 4 }),
        password === undefined || given?.toString() === password,
      ),
  });
  const payload = Buffer.alloc(100_000);
  if (subscribes)
    broker.on('clientReady', (client) => {
      for (const qos of [0, 1] as const)
        client.publish(
          { cmd: 'publish', topic: 'notice', payload, qos, retain: false, dup: false },
          () => undefined,
        );
    });
  broker.on('publish', (packet, client) => {
    if (client)
      published.push({ topic: packet.topic, payload: packet.payload as Buffer, retain: packet.retain });
  });
  onTestFinished(() => new Promise<void>((resolve) => broker.close(() => resolve())));
  const server = tls ? createTlsServer(tls, broker.handle) : createTcpServer(broker.handle);
  const port = await listen(server);
  return { url: `${tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`, published };
}
