import { Duplex, Transform, type Readable } from 'node:stream';
import type { DestinationResult } from '../../../core/ports/delivery.ts';
import { EgressRefusedError } from '../../egress/errors.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { connectGuarded } from '../../egress/guarded-tcp.ts';
import type { Publication } from './mqtt.ts';

/** Publishes messages at a broker, in order, over one connection. Errors of the broker are results. */
export type Publish = (url: string, publications: readonly Publication[]) => Promise<DestinationResult>;

export type PublisherOptions = {
  guard: EgressGuard;
  elapsedMs: () => number;
  /** Timeout from connect to the last acknowledgement, in seconds. Default: 30. */
  timeoutSeconds?: number;
};

/** Creates a publisher. Each publication is acknowledged (QoS 1) before the connection closes. */
export function createPublisher({ guard, elapsedMs, timeoutSeconds = 30 }: PublisherOptions): Publish {
  return async (url, publications) => {
    const startedMs = elapsedMs();
    const result = { status: null, retryAfter: null };
    const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
    try {
      const publish = async (all: readonly Publication[]) => publishAll(guard, new URL(url), all, signal);
      const left = await publishTwice(publish, publications);
      const latencyMs = Math.round(elapsedMs() - startedMs);
      const refused = left.some(isPicture) ? { isPictureRefused: true as const } : {};
      return { ...result, latencyMs, error: null, outcome: 'delivered', ...refused };
    } catch (error) {
      // The duration of a refusal would disclose internal names.
      const latencyMs = error instanceof EgressRefusedError ? 0 : Math.round(elapsedMs() - startedMs);
      return { ...result, latencyMs, error: explain(error), outcome: 'retry' };
    }
  };
}

/**
 * Returns the optional messages that the broker refused. What it shall keep is sent again over a second connection if
 * the first one ended there: an event is delivered with all states, or to a broker that keeps nothing. That one ends
 * both connections at the first such message.
 */
async function publishTwice(
  publish: (publications: readonly Publication[]) => Promise<number>,
  publications: readonly Publication[],
): Promise<readonly Publication[]> {
  const sent = await publish(publications);
  const left = publications.slice(sent);
  if (left[0] === undefined || left[0].isOptional) return left;
  const sentAgain = await publish(left);
  const keepsNothing = sentAgain === 0 && !publications.slice(0, sent).some(({ retain }) => retain);
  if (keepsNothing) return [];
  const refused = left.slice(sentAgain);
  if (refused[0] !== undefined && !refused[0].isOptional) throw new Error(closedMessage);
  return refused;
}

const closedMessage = 'The broker closed the connection';

function isPicture({ payload }: Publication): boolean {
  return typeof payload !== 'string';
}

/**
 * Returns how many messages it sent: fewer if the connection ended at an optional or retained one, which is how a
 * broker refuses a size, a topic, or to retain.
 */
async function publishAll(
  guard: EgressGuard,
  url: URL,
  publications: readonly Publication[],
  signal: AbortSignal,
): Promise<number> {
  const credentials = readCredentials(url);
  // Loaded by the first message: few services have a broker.
  const { MqttClient } = await import('mqtt');
  const connection = await openStream(guard, url, signal);
  const stream = passAnswers(connection);
  const client = new MqttClient(() => stream, {
    reconnectPeriod: 0,
    connectTimeout: 30_000,
    clean: true,
    ...credentials,
  });
  const failed = Promise.withResolvers<never>();
  // A failure before the first wait is not unhandled.
  failed.promise.catch(() => undefined);
  const connected = Promise.withResolvers<void>();
  client.on('connect', () => connected.resolve());
  client.on('error', failed.reject);
  stream.on('error', failed.reject);
  const fail = () => failed.reject(new Error(closedMessage));
  // The library waits for the rest of an outgoing message after the broker has ended its side.
  stream.on('end', fail);
  client.on('close', fail);
  signal.addEventListener('abort', () => failed.reject(new Error('The broker did not answer in time')), {
    once: true,
  });
  try {
    await Promise.race([connected.promise, failed.promise]);
    for (const [sent, { topic, payload, retain, isOptional }] of publications.entries()) {
      const content = typeof payload === 'string' ? payload : Buffer.from(payload);
      const published = Promise.race([
        client.publishAsync(topic, content, { qos: 1, retain }),
        failed.promise,
      ]);
      try {
        await published;
      } catch (error) {
        if (isOptional || (retain && !signal.aborted)) return sent;
        throw error;
      }
    }
    await Promise.race([client.endAsync(), failed.promise]).catch(() => undefined);
    return publications.length;
  } finally {
    client.end(true);
    stream.destroy();
    connection.destroy();
  }
}

/** Throws `URIError` for a malformed escape. */
function readCredentials({ username, password }: URL): { username?: string; password?: string } {
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

/** Connects to an address that the guard allows. `mqtts` verifies the certificate for the host of the URL. */
async function openStream(guard: EgressGuard, url: URL, signal: AbortSignal): Promise<Duplex> {
  const isSecure = url.protocol === 'mqtts:';
  if (!isSecure && url.protocol !== 'mqtt:') throw new Error('The URL is not mqtt: or mqtts:');
  const port = url.port === '' ? (isSecure ? 8883 : 1883) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return await connectGuarded(guard, { host, port, isSecure, timeoutMs: 10_000, signal });
}

/**
 * Returns messages that are safe to show: of the guard, of this file, and refusals of the broker. Others may name
 * hosts.
 */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'The broker is not available';
  const isShown =
    error.name.startsWith('Egress') || /^(?:Connection refused|The broker|The URL)/.test(error.message);
  return isShown ? error.message : 'The broker is not available';
}

/** Maximum bytes of what a broker may answer on one connection: some thousand acknowledgements. */
const maxBytes = 65_536;
/** Maximum bytes of what is left out: retained pictures of some hundred cameras. */
const maxLeftOutBytes = 33_554_432;

/**
 * Second byte, the length of the rest, of the messages that a client that only publishes needs (MQTT 3.1.1, chapter 3).
 */
const lengths = new Map([
  [0x20, 2], // CONNACK
  [0x40, 2], // PUBACK
  [0xd0, 0], // PINGRESP
  [0xe0, 0], // DISCONNECT
]);

/**
 * Returns the connection to a broker as the MQTT library may see it: only whole CONNACK, PUBACK, PINGRESP and
 * DISCONNECT arrive, the CONNACK first and once. A PUBLISH is left out: EMQX subscribes its clients to topics that they
 * did not ask for. Any other byte, or too many, ends it with an error. The library throws outside of any promise at
 * some malformed messages, and buffers long ones.
 */
function passAnswers(connection: Duplex): Duplex {
  const answers = connection.pipe(createAnswerFilter());
  connection.on('error', (error) => answers.destroy(error));
  connection.on('close', () => answers.destroy());
  return Duplex.from({ readable: answers, writable: connection });
}

function createAnswerFilter(): Readable & Transform {
  let rest = Buffer.alloc(0);
  let passedBytes = 0;
  let leftOutBytes = 0;
  /** Bytes that a message which is left out still lacks. They are not kept. */
  let awaitedBytes = 0;
  let isConnected = false;

  function isAllowed(message: Buffer): boolean {
    const isConnack = message[0] === 0x20;
    if (isConnack === isConnected) return false;
    isConnected = true;
    // Session present is 0 or 1; six return codes exist.
    return !isConnack || ((message[2] ?? 0) <= 1 && (message[3] ?? 0) <= 5);
  }

  return new Transform({
    transform(chunk: Buffer, _, done) {
      rest = Buffer.concat([rest, chunk.subarray(awaitedBytes)]);
      awaitedBytes = Math.max(0, awaitedBytes - chunk.length);
      for (;;) {
        const [type, length] = rest;
        if (type === undefined) return done();
        const isPublish = isConnected && type >> 4 === 3;
        const isKnown = lengths.has(type) && (length === undefined || length === lengths.get(type));
        if (!isPublish && !isKnown) return done(unexpected());
        const end = isPublish ? endOfPublish(rest) : 2 + (length ?? 0);
        if (end === undefined || (!isPublish && rest.length < end)) return done();
        const message = rest.subarray(0, end);
        rest = rest.subarray(end);
        if (isPublish) [leftOutBytes, awaitedBytes] = [leftOutBytes + end, end - message.length];
        else passedBytes += end;
        if (passedBytes > maxBytes || leftOutBytes > maxLeftOutBytes)
          return done(new Error('The broker sent too much'));
        if (isPublish) continue;
        if (!isAllowed(message)) return done(unexpected());
        this.push(message);
      }
    },
  });
}

/** Returns the length of a PUBLISH with its head, in bytes; undefined before it is known, Infinity if it has no end. */
function endOfPublish(message: Buffer): number | undefined {
  const last = message.subarray(1, 5).findIndex((byte) => byte < 0x80);
  if (last === -1) return message.length < 5 ? undefined : Infinity;
  const digits = message.subarray(1, last + 2);
  return digits.reduce((sum, byte, index) => sum + (byte & 0x7f) * 128 ** index, last + 2);
}

function unexpected(): Error {
  return new Error('The broker sent a message that a publisher does not expect');
}
