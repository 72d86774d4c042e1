import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { createOnvifCameras, type OnvifDeps } from '../../adapters/onvif/cameras.ts';
import { toDeviceUrl } from '../../adapters/onvif/device-address.ts';
import type { Cameras, CameraStreams, Discovery } from '../../core/ports/cameras.ts';
import { requireReachable } from '../checks/private-address.ts';
import { CommandError } from '../command-error.ts';
import { addSettings, type Settings } from '../settings.ts';
import { oneLine, type Terminal } from '../terminal.ts';
import type { Command } from 'commander';
import { z } from 'zod';
import { parseSettings, wantsJson } from '../parse-options.ts';

const discoverOptions = z.object({ user: z.string().optional() });

export function addDiscover(program: Command, terminal: Terminal): void {
  addSettings(program.command('discover [address]'), ['allowRanges'])
    .description('list the ONVIF cameras of the network, or the streams of the camera at an address')
    .option('--user <name>', 'user of the camera; its password is asked for')
    .option('--json', 'print the cameras or streams as JSON')
    .addHelpText(
      'after',
      '\nOnly cameras in the allowed ranges are asked. The password is read from the terminal, from standard input or from WATCHPOST_CAMERA_PASSWORD.',
    )
    .action(async (address: string | undefined, raw: unknown) => {
      const { user } = discoverOptions.parse(raw);
      await discover({ address, user }, parseSettings(raw), terminal, wantsJson(raw));
    });
}

/** Arguments of `watchpost discover`: without an address, the cameras of the network are listed. */
export type DiscoverOptions = { address: string | undefined; user: string | undefined };

/** Difference of clocks that is worth a note, in seconds. */
const notedClockSeconds = 60;

/** Lists the cameras in the allowed ranges, or the streams of one (`watchpost discover`). */
export async function discover(
  { address, user }: DiscoverOptions,
  { allowRanges }: Pick<Settings, 'allowRanges'>,
  terminal: Terminal,
  asJson: boolean,
  discovery: Pick<OnvifDeps, 'port' | 'setTimer'> = {},
): Promise<void> {
  if (allowRanges.length === 0) throw noRangesError();
  if (address === undefined && user !== undefined)
    throw new CommandError('The address is missing', 'Use: watchpost discover ADDRESS --user NAME');
  if (address !== undefined) await requireReachable(toDeviceUrl(address), allowRanges);
  const cameras = createOnvifCameras({ egress: { allowRanges }, now: () => new Date(), ...discovery });
  try {
    if (address === undefined) printCameras(await find(cameras, terminal), allowRanges, terminal, asJson);
    else printStreams(address, user, await read(cameras, address, user), terminal, asJson);
  } finally {
    await cameras.close();
  }
}

async function find(cameras: Cameras, terminal: Terminal): Promise<Discovery> {
  const waiting = terminal.waiting('Asking the cameras in the allowed ranges');
  try {
    return await cameras.discover(new AbortController().signal);
  } finally {
    waiting.done();
  }
}

async function read(cameras: Cameras, address: string, user: string | undefined): Promise<CameraStreams> {
  const login = user === undefined ? null : { username: user, password: await readPassword(process.env) };
  return cameras.readStreams(address, login, new AbortController().signal);
}

function printCameras(
  { cameras, outside }: Discovery,
  allowRanges: readonly string[],
  terminal: Terminal,
  asJson: boolean,
): void {
  if (asJson) return terminal.print(JSON.stringify({ cameras, outside }));
  if (outside.length > 0)
    terminal.note(
      `Ignored answers from outside of the allowed ranges. To list them: --allow-ranges ${[...allowRanges, ...outside].join(',')}`,
    );
  if (cameras.length === 0)
    throw new CommandError(
      'No camera answered',
      'Enable ONVIF and its discovery in the settings of the cameras, and check the allowed ranges. Ranges up to 512 addresses are asked one by one, larger ones by multicast only, which containers do not send. A camera that does not answer may be readable: watchpost discover ADDRESS --user NAME',
    );
  const width = Math.max(...cameras.map(({ address }) => address.length));
  for (const { address, name, hardware } of cameras) {
    const facts = [name, hardware].filter((fact) => fact !== null);
    terminal.print(`${address.padEnd(width)}  ${oneLine(facts.join(', '))}`.trimEnd());
  }
  terminal.note('Read the streams of one with: watchpost discover ADDRESS --user NAME');
}

function printStreams(
  address: string,
  user: string | undefined,
  { profiles, clockOffsetSeconds }: CameraStreams,
  terminal: Terminal,
  asJson: boolean,
): void {
  if (asJson)
    return terminal.print(JSON.stringify({ address, clock_offset_seconds: clockOffsetSeconds, profiles }));
  for (const { name, codec, width, height, ...urls } of profiles) {
    const size = width === null || height === null ? [] : [`${width}×${height}`];
    terminal.print(oneLine([name, ...(codec === null ? [] : [codec]), ...size].join('  ')));
    terminal.print(`  stream    ${urls.stream_url ?? 'none'}`);
    terminal.print(`  snapshot  ${urls.snapshot_url ?? 'none'}`);
  }
  if (profiles.length === 0)
    throw new CommandError(
      'The camera has no video profile',
      'Enable a stream in its settings, or use the RTSP address of its manual.',
    );
  const name = user === undefined ? 'USER' : encodeURIComponent(user);
  const url = profiles.flatMap((profile) => profile.stream_url ?? profile.snapshot_url ?? [])[0];
  if (url !== undefined)
    terminal.note(
      `As stream_url, alike for snapshots: ${url.replace('://', `://${name}:PASSWORD@`)} with the password percent-encoded (p@ss is p%40ss).`,
    );
  if (Math.abs(clockOffsetSeconds ?? 0) >= notedClockSeconds)
    terminal.note(`The clock of the camera differs by ${clockOffsetSeconds} s. Set it, best by NTP.`);
}

function noRangesError(): CommandError {
  const ownAddresses = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  return new CommandError(
    'No ranges are allowed',
    `Name the ranges of your cameras, such as that of this machine: --allow-ranges ${ownAddresses?.cidr ?? '192.168.1.0/24'}`,
  );
}

const passwordVariable = 'WATCHPOST_CAMERA_PASSWORD';

/**
 * Reads a password from the variable, from the terminal without showing it, or from the first line of standard input.
 * It is no argument of the command: other users of the machine can read those. Throws `CommandError` without one.
 */
async function readPassword(env: NodeJS.ProcessEnv): Promise<string> {
  const { stdin, stderr } = process;
  const password =
    env[passwordVariable] ?? (stdin.isTTY ? await askHidden(stdin, stderr) : await readLine(stdin));
  if (password !== '') return password;
  throw new CommandError(
    'The password is missing',
    `Enter it, pass it as the first line of standard input, or set ${passwordVariable}.`,
  );
}

async function askHidden(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  output.write('Password of the camera: ');
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } catch (error) {
    // Ctrl+C and Ctrl+D enter nothing.
    if (error instanceof Error && error.name === 'AbortError') return '';
    throw error;
  } finally {
    lines.close();
    output.write('\n');
  }
}

async function readLine(input: NodeJS.ReadStream): Promise<string> {
  for await (const line of createInterface({ input })) return line;
  return '';
}
