import { Duplex, Transform, type Readable } from 'node:stream';

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
export function passAnswers(connection: Duplex): Duplex {
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
  return digits.reduce((sum, byte, at) => sum + (byte & 0x7f) * 128 ** at, last + 2);
}

function unexpected(): Error {
  return new Error('The broker sent a message that a publisher does not expect');
}
