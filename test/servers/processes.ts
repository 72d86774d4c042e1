import { spawn, type ChildProcess } from 'node:child_process';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { cases, encode, type Case } from './cases.ts';
import { UnavailableError } from './install.ts';

/** Stream of a foreign server. */
export type Stream = {
  name: string;
  url: string;
  /** True if the server has no TCP, so that ffmpeg uses UDP. */
  onlyUdp?: boolean;
  confirms?: string | undefined;
  /** True if it shows the scene of `cases.ts`, whose brightness tells the time; else a blue area. */
  hasClock: boolean;
  /** True for single pictures: a clip must be refused. */
  withoutClips?: boolean;
  /** Starts what the stream needs. Returns its start, and ends it on `close`. */
  start(): Promise<{ startedAt: number; close(): void }>;
  /** Changes the stream while a monitor watches it, which must not end. */
  disturb?(): Promise<void>;
};

export type OpenServer = { streams: Stream[]; close(): void };
/** Server with the streams that it offers, in a folder of its own run. */
export type Server = { name: string; open(folder: string): Promise<OpenServer> };

/** Address of this machine in its network, which cameras have there; undefined without a network. */
export const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** Ports of the servers, on loopback. Those with a range are the first of one for each stream or server. */
export const ports = {
  gortsplib: 18_500,
  restarted: 18_501,
  go2rtcSource: 18_502,
  go2rtc: 18_554,
  go2rtcHttp: 11_984,
  gstreamer: 18_600,
  vlc: 18_700,
  rtmp: 11_935,
  http: 18_080,
  shaka: 18_081,
  shakaUdp: 18_400,
  udp: 18_900,
  gohlslib: 18_300,
  gohlslibUdp: 18_350,
  gstreamerHttp: 18_220,
  vlcHttp: 18_230,
  vlcHttpUdp: 18_240,
  ownGo2rtc: 18_250,
  ownGo2rtcHttp: 18_260,
  motion: 18_270,
  ustreamer: 18_280,
  onvif: 18_290,
};
export const nothing = async () => ({ startedAt: Date.now(), close: () => undefined });
export const slug = ({ name }: Case): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
export const carriedBy = (protocol: 'rtsp' | 'rtmp' | 'ts') =>
  cases.filter(({ only }) => only?.includes(protocol) ?? true);

export function publish(each: Case, output: string): { startedAt: number; close(): void } {
  const encoder = spawn('ffmpeg', encode(each, output), { stdio: 'ignore' });
  children.add(encoder);
  return { startedAt: Date.now(), close: () => stop(encoder) };
}

/** Starts once what several streams use at the same time, and ends it with the last of them. */
export function shared<Started extends { close(): void }>(start: () => Promise<Started>) {
  let users = 0;
  let started: Promise<Started> | undefined;
  return async (): Promise<Started> => {
    users += 1;
    started ??= start();
    const own = await started;
    const close = () => {
      users -= 1;
      if (users > 0) return;
      started = undefined;
      own.close();
    };
    return { ...own, close };
  };
}

/** Ends with this process, however it ends. */
const children = new Set<ChildProcess>();
process.once('exit', () => children.forEach(stop));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

export function stop(child: ChildProcess): void {
  child.kill('SIGKILL');
}

/** Starts a server and waits until it accepts connections. */
export async function startProcess(command: string, args: string[], port: number): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  children.add(child);
  let failure: Error | undefined;
  child.on('error', (error) => (failure = error));
  for (let waited = 0; waited < 100; waited += 1) {
    if (failure || child.exitCode !== null)
      throw new UnavailableError(`${command} ended: ${failure?.message ?? child.exitCode}`);
    if (await accepts(port)) return child;
    await sleep(100);
  }
  stop(child);
  throw new UnavailableError(`${command} accepts no connection`);
}

async function accepts(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  const isOpen = await promise;
  socket.destroy();
  return isOpen;
}
