import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installCargo, UnavailableError } from './install.ts';
import { startOwnGo2rtc } from './picture-servers.ts';
import { ownAddress, ports, startProcess, stop, type OpenServer, type Stream } from './processes.ts';

const run = promisify(execFile);
const login = { username: 'watcher', password: 'pa&ss <1>' };

/**
 * Its camera is found by `watchpost discover`, which reads its addresses with the password. They are those of a go2rtc.
 */
export async function openOnvifServer(folder: string): Promise<OpenServer> {
  if (ownAddress === undefined) throw new UnavailableError('this machine has no network for multicast');
  const crates = `onvif-server = { version = "=0.1.1", features = ["discovery"] }\ntokio = { version = "1", features = ["rt-multi-thread", "macros"] }\nasync-trait = "0.1"\n`;
  const program = await installCargo('onvif', crates);
  const media = await startOwnGo2rtc(folder, 'onvif-server', ownAddress);
  const addresses = [media.url, `${media.web}/api/frame.jpeg?src=camera`];
  const device = await startProcess(program, [ownAddress, `${ports.onvif}`, ...addresses], ports.onvif);
  const close = () => (stop(device), media.close());
  try {
    const address = `${ownAddress}:${ports.onvif}`;
    const { cameras } = await discover([]);
    if (!cameras?.some((camera) => camera.address === address))
      throw new Error(`${address} is not discovered`);
    return { streams: await readStreams([address, '--user', login.username], media.start), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** ONVIF of go2rtc requires no user and answers no discovery. */
export async function openGo2rtcOnvif(folder: string): Promise<OpenServer> {
  const { http, start, close } = await startOwnGo2rtc(folder, 'onvif');
  return { streams: await readStreams([`127.0.0.1:${http}`], start), close };
}

async function readStreams(args: string[], start: Stream['start']): Promise<Stream[]> {
  const { profiles = [] } = await discover(args);
  const withUser = (text: string) => {
    const url = new URL(text);
    if (args.includes('--user')) [url.username, url.password] = [login.username, login.password];
    return url.href;
  };
  return profiles.slice(0, 1).flatMap(({ stream_url: stream, snapshot_url: snapshot }) => [
    { name: 'RTSP', url: withUser(stream ?? ''), hasClock: true, start },
    { name: 'JPEG', url: withUser(snapshot ?? ''), hasClock: true, withoutClips: true, start },
  ]);
}

type Discovered = {
  cameras?: { address: string }[];
  profiles?: { stream_url: string | null; snapshot_url: string | null }[];
};

/** Runs `watchpost discover` as its user does. */
async function discover(args: string[]): Promise<Discovered> {
  const ranges = `127.0.0.0/8${ownAddress === undefined ? '' : `,${ownAddress}/32`}`;
  const command = ['cli/watchpost.ts', 'discover', ...args, '--allow-ranges', ranges, '--json'];
  const env = { ...process.env, WATCHPOST_CAMERA_PASSWORD: login.password };
  const { stdout } = await run(process.execPath, command, { env });
  return JSON.parse(stdout) as Discovered;
}
