import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

/**
 * Receivers that break their protocol, against a process that has nothing to catch what a library throws in a callback.
 */

type Type = 'webhook' | 'mqtt' | 'email';
type Address = { type: Type; port: number };
/** Messages of a receiver: one at the connection if it speaks first, then one per message of the client. */
type Conversation = Buffer[];

const bytes = (...values: number[]) => Buffer.from(values);
const text = (value: string) => Buffer.from(value, 'latin1');

const connack = bytes(0x20, 2, 0, 0);
const puback = bytes(0x40, 2, 0, 1);
const conversations: Record<Type, Conversation> = {
  mqtt: [connack, ...Array.from({ length: 12 }, () => puback), bytes(0xd0, 0)],
  email: [
    '220 mail\r\n',
    '250-mail\r\n250-SIZE 1000\r\n250 8BITMIME\r\n',
    '250 ok\r\n',
    '250 ok\r\n',
    '354 go\r\n',
    '250 ok\r\n',
    '221 bye\r\n',
  ].map(text),
  webhook: [text('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nretry-after: 7\r\n\r\n{}')],
};

/** Messages that ended the process, or that a parser may trip over. */
const crafted: Record<Type, Conversation[]> = {
  mqtt: [
    // A PUBLISH of QoS 1 without a message id, after the CONNACK.
    [bytes(0x20, 2, 0, 0, 0x32, 3, 0, 1, 0)],
    [connack, bytes(0x90, 2, 0, 1), puback],
    [bytes(0x20, 2, 0, 0, 0x20, 2, 0, 0), puback],
    [bytes(0x20, 2, 0xff, 0), puback],
    [bytes(0x20, 2, 0, 0xff)],
    [bytes(0x20, 0xff, 0xff, 0xff, 0xff, 0x7f)],
    [bytes(0xf0, 0)],
    [connack, bytes(0xe0, 0)],
    [connack, Buffer.alloc(80_000, bytes(0xd0, 0))],
  ],
  email: [
    [text('220 mail\r\n'), text('250-STARTTLS\r\n250 ok\r\n'), text('220 go\r\n'), text('250 not TLS\r\n')],
    [text('220-'.repeat(100_000))],
    [text('999 \0\r\n')],
  ],
  webhook: [
    [text('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n')],
    [text('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000))],
    [text('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n')],
    [text(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`)],
    [text('HTTP/1.1 200 OK\r\nretry-after: \0\xff\r\n\r\n')],
  ],
};

test.each(['mqtt', 'email', 'webhook'] as const)(
  'a process that delivers stays up and delivers, whatever a receiver of %s answers',
  async (type) => {
    const random = createRandom(23);
    const mutants = Array.from({ length: Number(process.env['CASES'] ?? 300) }, () =>
      mutate(conversations[type], random),
    );
    const hostile = [...crafted[type], ...mutants];
    const { outcomes } = await deliver(type, hostile, conversations[type]);
    expect(outcomes).toHaveLength(hostile.length + 1);
    expect(outcomes.at(-1)).toBe('delivered');
  },
);

test('a broker that sends a message without end costs little memory, and its connection ends', async () => {
  const started = await listen((socket) => {
    socket.write(bytes(0x20, 2, 0, 0, 0x30, 0xff, 0xff, 0xff, 0x7f));
    const chunk = Buffer.alloc(1 << 20);
    const pump = (): void => {
      while (!socket.destroyed && socket.bytesWritten < 200 * chunk.length) if (!socket.write(chunk)) return;
    };
    socket.on('drain', pump);
    pump();
  });
  const { outcomes, rssMb } = await deliverTo([{ type: 'mqtt', port: started }]);
  expect(outcomes).toEqual(['retry']);
  expect(rssMb).toBeLessThan(200);
});

/** Delivers to all hostile receivers concurrently, each with a port of its own, and then to a good one. */
async function deliver(type: Type, hostile: readonly Conversation[], good: Conversation) {
  const addresses: Address[] = [];
  for (const conversation of [...hostile, good])
    addresses.push({ type, port: await listen((socket) => converse(socket, conversation, type)) });
  return deliverTo(addresses.slice(0, -1), addresses.slice(-1));
}

function converse(socket: Socket, [...messages]: Conversation, type: Type): void {
  let received = Buffer.alloc(0);
  const answer = (message = messages.shift()): void => void (message && socket.write(message));
  if (type === 'email') answer();
  socket.on('data', (chunk: Buffer) => {
    if (type !== 'mqtt') return answer();
    received = Buffer.concat([received, chunk]);
    for (let packet = readPacket(received); packet !== undefined; packet = readPacket(received)) {
      received = received.subarray(packet.length);
      answer(acknowledge(messages.shift(), packet));
    }
  });
}

/** Returns the first whole packet of MQTT; undefined if it has not arrived. */
function readPacket(received: Buffer): Buffer | undefined {
  const lengthEnd = received.findIndex((byte, index) => index > 0 && byte < 0x80) + 1;
  if (lengthEnd === 0) return undefined;
  const length = received
    .subarray(1, lengthEnd)
    .reduce((sum, byte, index) => sum + (byte & 0x7f) * 128 ** index, 0);
  return received.length < lengthEnd + length ? undefined : received.subarray(0, lengthEnd + length);
}

/** Sets the id of a PUBACK to that of the PUBLISH that it answers. */
function acknowledge(message: Buffer | undefined, publish: Buffer): Buffer | undefined {
  if (!message?.subarray(0, 2).equals(puback.subarray(0, 2)) || publish[0]! >> 4 !== 3) return message;
  const topicAt = publish.findIndex((byte, index) => index > 0 && byte < 0x80) + 1;
  const idAt = topicAt + 2 + publish.readUInt16BE(topicAt);
  return Buffer.concat([message.subarray(0, 2), publish.subarray(idAt, idAt + 2), message.subarray(4)]);
}

async function listen(accept: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    accept(socket);
    onFinish.add(() => socket.destroy());
  });
  const onFinish = new Set<() => void>([() => server.close()]);
  onTestFinished(() => onFinish.forEach((end) => end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/**
 * Sends one notification to each address from another process, and then to the last ones. Returns what it printed
 * before it ended.
 */
async function deliverTo(first: readonly Address[], last: readonly Address[] = []) {
  const script = fileURLToPath(new URL('sender-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.on('error', () => undefined);
  const send = (addresses: readonly Address[]) =>
    addresses.forEach((address) => child.stdin.write(`${JSON.stringify(address)}\n`));
  const outcomes: string[] = [];
  let rssMb = 0;
  send(first);
  for await (const line of createInterface(child.stdout)) {
    const result = JSON.parse(line);
    outcomes.push(result.outcome);
    rssMb = Math.max(rssMb, result.rssMb);
    if (outcomes.length === first.length) send(last);
    if (outcomes.length === first.length + last.length) child.stdin.end();
  }
  return { outcomes, rssMb };
}

/** Changes bytes, cuts, repeats or exchanges messages of a conversation. */
function mutate(conversation: Conversation, random: (below: number) => number): Conversation {
  const mutant = conversation.map((message) => Buffer.from(message));
  for (let changes = 1 + random(4); changes > 0; changes -= 1) {
    const at = random(mutant.length);
    const message = mutant[at] ?? Buffer.alloc(0);
    const offset = random(message.length + 1);
    const kind = random(5);
    if (kind === 0 && offset < message.length) message[offset] = random(256);
    if (kind === 1) mutant[at] = message.subarray(0, offset);
    if (kind === 2) mutant.splice(at, 0, mutant[random(mutant.length)] ?? message);
    if (kind === 3)
      mutant[at] = Buffer.concat([message.subarray(0, offset), noise(random), message.subarray(offset)]);
    if (kind === 4) mutant[at] = Buffer.concat(mutant.slice(at));
  }
  return mutant;
}

function noise(random: (below: number) => number): Buffer {
  return Buffer.from(Array.from({ length: random(40) }, () => random(256)));
}

/** Returns a generator of numbers with a fixed seed (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}
