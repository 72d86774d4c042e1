import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  DownloadError,
  type FetchedBinary,
  type LayerArchitecture,
  fetchPackagedBinary,
  readLockedVersion,
  type Pip,
} from './packaged-binary.ts';
import { gunzipSync } from 'node:zlib';
import { EnvHttpProxyAgent, fetch } from 'undici';

/** Release that ffmpeg-static 5.3 installs. */
const release = 'b6.1.1';
const publisher = 'https://github.com/eugeneware/ffmpeg-static/releases/download';

/** Maximum size of the binary, in bytes. The largest has about 80 MB. */
const maxBinaryBytes = 200_000_000;

/**
 * Downloads the Linux build of ffmpeg-static, for any architecture and on any host. `FFMPEG_BINARIES_URL` sets
 * another source, as for the installer of ffmpeg-static. Throws `DownloadError`.
 */
async function fetchPublishedBinary(
  architecture: LayerArchitecture,
  env: NodeJS.ProcessEnv,
): Promise<FetchedBinary> {
  const base = `${env['FFMPEG_BINARIES_URL'] ?? publisher}/${release}/ffmpeg-linux-${published[architecture]}`;
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const [packed, license, readme] = await Promise.all([
      download(`${base}.gz`, dispatcher),
      download(`${base}.LICENSE`, dispatcher),
      download(`${base}.README`, dispatcher),
    ]);
    const binary = gunzipSync(packed, { maxOutputLength: maxBinaryBytes });
    return { origin: `${base}.gz`, binary, texts: { LICENSE: text(license), README: text(readme) } };
  } finally {
    await dispatcher.close();
  }
}

const published = { arm64: 'arm64', x86_64: 'x64' } as const satisfies Record<LayerArchitecture, string>;

async function download(url: string, dispatcher: EnvHttpProxyAgent): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { dispatcher, signal: AbortSignal.timeout(300_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw new DownloadError(`${url} could not be downloaded`, { cause: error });
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Error for a download with another checksum or for another architecture. */
export class LayerError extends Error {}

type Deps = {
  /** Output folder, with one folder per architecture: the content of `/opt` in a function. */
  outDir: string;
  /** Committed file with the known checksums. */
  checksumsFile: string;
  /** Committed file with the version and the checksums of the wheels. */
  requirements: string;
  /** Checksums that the operator confirms with this build, which records them. */
  confirmed: readonly string[];
  env: NodeJS.ProcessEnv;
  pip: Pip;
};

/**
 * Built layer. `name` is the source and version of its ffmpeg. `isNew` is true if its checksum was not recorded before.
 */
export type BuiltLayer = { name: string; folder: string; sha256: string; bytes: number; isNew: boolean };

/** Known checksums by source and version, or another name of yours, and by architecture. */
export const checksumsSchema = z.record(z.string(), z.record(z.string(), z.string()));

/**
 * Writes the folder of a layer with binary and origin, unless it has a binary whose checksum is recorded. Takes the
 * binary of ffmpeg-static if its checksum is recorded or confirmed and it can be downloaded, else that of a wheel,
 * whose checksum is in `requirements`. Throws `DownloadError`, and `LayerError` for another architecture or checksum.
 */
export async function buildLayer(architecture: LayerArchitecture, deps: Deps): Promise<BuiltLayer> {
  const { outDir, checksumsFile } = deps;
  const checksums = checksumsSchema.parse(JSON.parse(await readFile(checksumsFile, 'utf8')));
  const folder = join(outDir, architecture);
  const built = await findBuilt(folder, architecture, checksums, deps);
  if (built !== undefined) return built;
  const { name, origin, binary, texts, isTrusted } = await fetchBinary(architecture, checksums, deps);
  if (!isProgramFor(architecture, binary))
    throw new LayerError(`${origin} is not a Linux program for ${architecture}`);
  const sha256 = checksum(binary);
  const expected = checksums[name]?.[architecture];
  if (expected !== undefined && expected !== sha256)
    throw new LayerError(
      `${name} for ${architecture} has changed: sha256 ${sha256} instead of ${expected} (${checksumsFile})`,
    );
  if (expected === undefined && !isTrusted(sha256))
    throw new LayerError(
      `The checksum of ${name} for ${architecture} is sha256 ${sha256}, and none of the confirmed ones`,
    );
  const about = { name, architecture, origin, sha256, license: 'GPL-3.0-or-later', bytes: binary.length };
  const share = Object.entries({ ...texts, 'origin.json': `${JSON.stringify(about, null, 2)}\n` });
  await write(folder, {
    'bin/ffmpeg': binary,
    ...Object.fromEntries(share.map(([file, content]) => [`share/ffmpeg/${file}`, content])),
  });
  const isNew = expected === undefined;
  if (isNew) {
    const added = { ...checksums, [name]: { ...checksums[name], [architecture]: sha256 } };
    await writeFile(checksumsFile, `${JSON.stringify(added, null, 2)}\n`);
  }
  return { name, folder, sha256, bytes: binary.length, isNew };
}

/**
 * Returns the layer of the folder if it is of the locked version, or a build of the operator. Ignores it if a checksum
 * is to be confirmed.
 */
async function findBuilt(
  folder: string,
  architecture: LayerArchitecture,
  checksums: z.output<typeof checksumsSchema>,
  { confirmed, requirements }: Deps,
): Promise<BuiltLayer | undefined> {
  const binary = await readFile(join(folder, 'bin/ffmpeg')).catch(() => undefined);
  if (binary === undefined || confirmed.length > 0) return undefined;
  const sha256 = checksum(binary);
  const name = Object.keys(checksums).find((each) => checksums[each]?.[architecture] === sha256);
  const isOutdated = name?.startsWith('imageio-ffmpeg ') && name !== (await nameWheels(requirements));
  return name === undefined || isOutdated
    ? undefined
    : { name, folder, sha256, bytes: binary.length, isNew: false };
}

async function nameWheels(requirements: string): Promise<string> {
  return `imageio-ffmpeg ${await readLockedVersion(requirements)}`;
}

function checksum(binary: Uint8Array): string {
  return createHash('sha256').update(binary).digest('hex');
}

type Source = FetchedBinary & { name: string; isTrusted: (sha256: string) => boolean };

/**
 * Fetches the binary. The publisher of ffmpeg-static has no checksums, so that it is used only with a recorded one; pip
 * has verified a wheel.
 */
async function fetchBinary(
  architecture: LayerArchitecture,
  checksums: z.output<typeof checksumsSchema>,
  { confirmed, env, requirements, pip }: Deps,
): Promise<Source> {
  const packaged = async (): Promise<Source> => ({
    ...(await fetchPackagedBinary(architecture, { requirements, pip })),
    name: await nameWheels(requirements),
    isTrusted: () => true,
  });
  const isConfirmed = confirmed.length > 0;
  if (!isConfirmed && checksums[release]?.[architecture] === undefined) return packaged();
  const isTrusted = (sha256: string) => confirmed.includes(sha256);
  return fetchPublishedBinary(architecture, env).then(
    (fetched) => ({ ...fetched, name: release, isTrusted }),
    (error: unknown) => {
      if (isConfirmed || !(error instanceof DownloadError)) throw error;
      return packaged();
    },
  );
}

/** Checks `e_machine` at byte 18 of the ELF header. */
function isProgramFor(architecture: LayerArchitecture, binary: Uint8Array): boolean {
  const isElf =
    binary.length > 20 && Buffer.from(binary.subarray(0, 4)).equals(Buffer.from('\x7fELF', 'latin1'));
  return isElf && binary[18] === machines[architecture] && binary[19] === 0;
}

const machines = { arm64: 0xb7, x86_64: 0x3e } as const;

/** Writes the folder atomically: an existing folder is a complete layer. */
async function write(folder: string, files: Record<string, string | Uint8Array>): Promise<void> {
  const partial = `${folder}.${process.pid}.part`;
  await rm(partial, { recursive: true, force: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(partial, name, '..'), { recursive: true });
    await writeFile(join(partial, name), content, { mode: name.startsWith('bin/') ? 0o755 : 0o644 });
  }
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}
