import { createSocket, type Socket } from 'node:dgram';
import { waitUntilAborted, type SetTimer } from '../../core/time-limit.ts';
import type { AddressRule } from './address-rule.ts';
import { contained } from '../contained.ts';

/** Maximum bytes of the answers to a question, in total and of a host. */
const maxBytes = 4_000_000;
const maxBytesOfHost = 500_000;

/** Creates a limit of answers. It returns true for an answer that fits. A host that floods hides no other. */
export function createAnswerLimit(): (sender: string, bytes: number) => boolean {
  let total = 0;
  const bySender = new Map<string, number>();
  return (sender, bytes) => {
    const ofHost = (bySender.get(sender) ?? 0) + bytes;
    if (ofHost > maxBytesOfHost || total + bytes > maxBytes) return false;
    total += bytes;
    bySender.set(sender, ofHost);
    return true;
  };
}

/** Question to the hosts of a network, and what they answer. */
export type DatagramQuestion = {
  /** Hosts that may be asked, and whose answers count. */
  isAllowed: AddressRule;
  /** Group of IPv4, which all hosts of a local network can hear. */
  group: string;
  port: number;
  /** Addresses of this machine whose networks are asked as a group. */
  interfaces: readonly string[];
  /** IPv4 addresses that are asked alone. */
  hosts: readonly string[];
  messages: readonly string[];
  /** Time between two messages, and time for answers after the last, in milliseconds. */
  gapMs: number;
  listenMs: number;
  setTimer: SetTimer;
  signal: AbortSignal;
  onAnswer: (text: string, sender: string) => void;
  /** Called with the address of a host whose answer does not count. */
  onOutside: (sender: string) => void;
};

/**
 * Asks the hosts of a network by UDP over IPv4, which cameras use for it. A network or a host that cannot be reached is
 * left out: others may answer. Answers are bounded in size and time. Throws the reason of the signal, and what
 * `onAnswer` or `onOutside` throws.
 */
export async function askByDatagram(question: DatagramQuestion): Promise<void> {
  const { interfaces, hosts, group, port, messages, setTimer, signal } = question;
  const sockets: Socket[] = [];
  const fits = createAnswerLimit();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const receive = contained((bytes: Buffer, sender: string) => {
    if (!question.isAllowed(sender)) question.onOutside(sender);
    else if (fits(sender, bytes.byteLength)) question.onAnswer(bytes.toString('utf8'), sender);
  }, failed.reject);
  const open = async (address: string, targets: readonly string[]) => {
    const socket = targets.length === 0 ? undefined : await bind(address, receive);
    if (socket !== undefined) sockets.push(socket);
    return (message: string) => {
      for (const target of targets) socket?.send(message, port, target, () => undefined);
    };
  };
  try {
    const senders = await Promise.all([
      ...interfaces.map((address) => open(address, [group])),
      open('0.0.0.0', hosts.filter(question.isAllowed)),
    ]);
    for (const [index, message] of messages.entries()) {
      for (const send of senders) send(message);
      const isLast = index === messages.length - 1;
      const waited = Promise.withResolvers<void>();
      const cancel = setTimer(waited.resolve, isLast ? question.listenMs : question.gapMs);
      await waitUntilAborted(Promise.race([waited.promise, failed.promise]), signal).finally(cancel);
    }
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/**
 * Returns a socket at an address of this machine; undefined if it cannot be opened. Sends to groups from this address
 * only.
 */
async function bind(
  address: string,
  receive: (bytes: Buffer, sender: string) => void,
): Promise<Socket | undefined> {
  const socket = createSocket('udp4');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // Stays: a network that goes away is an error of the socket.
  socket.on('error', () => resolve(false));
  socket.on('message', (bytes, { address: sender }) => receive(bytes, sender));
  socket.bind({ address, port: 0 }, () => resolve(true));
  if (await promise) {
    if (address !== '0.0.0.0') socket.setMulticastInterface(address);
    return socket;
  }
  socket.close();
  return undefined;
}
