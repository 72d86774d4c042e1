import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { fetchPublishedBinary, release } from './published-binary.ts';
import type { LayerArchitecture } from './published-binary.ts';

/** Error for a download with another checksum or for another architecture. */
export class LayerError extends Error {}

type Deps = {
  /** Output folder, with one folder per architecture: the content of `/opt` in a function. */
  outDir: string;
  /** Committed file with the confirmed checksums. */
  checksumsFile: string;
  /** Checksums that the operator confirms with this build, which records them. */
  confirmed: readonly string[];
  env: NodeJS.ProcessEnv;
};

/** Built layer. `isNew` is true if its checksum was not recorded before. */
export type BuiltLayer = { folder: string; sha256: string; bytes: number; isNew: boolean };

/** Confirmed checksums by release, or another name of yours, and by architecture. */
export const checksumsSchema = z.record(z.string(), z.record(z.string(), z.string()));

/**
 * Writes the folder of a layer with binary, license and origin. Throws `DownloadError`, and `LayerError` for
 * another architecture or checksum.
 */
export async function buildLayer(
  architecture: LayerArchitecture,
  { outDir, checksumsFile, confirmed, env }: Deps,
): Promise<BuiltLayer> {
  const { url, binary, license, readme } = await fetchPublishedBinary(architecture, env);
  if (!isProgramFor(architecture, binary))
    throw new LayerError(`${url} is not a Linux program for ${architecture}`);
  const sha256 = createHash('sha256').update(binary).digest('hex');
  const isNew = await checkSum(architecture, sha256, { checksumsFile, confirmed });
  const origin = { release, architecture, url, sha256, license: 'GPL-3.0-or-later', bytes: binary.length };
  const folder = join(outDir, architecture);
  await write(folder, {
    'bin/ffmpeg': binary,
    'share/ffmpeg/LICENSE': license,
    'share/ffmpeg/README': readme,
    'share/ffmpeg/origin.json': `${JSON.stringify(origin, null, 2)}\n`,
  });
  return { folder, sha256, bytes: binary.length, isNew };
}

/**
 * Compares the checksum with the recorded one. The publisher has none: a binary without a record is rejected until the operator confirms
 * its checksum, and no deployment runs an unverified binary.
 */
async function checkSum(
  architecture: string,
  sha256: string,
  { checksumsFile: file, confirmed }: Pick<Deps, 'checksumsFile' | 'confirmed'>,
): Promise<boolean> {
  const checksums = checksumsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const known = checksums[release]?.[architecture];
  if (known === sha256) return false;
  if (known !== undefined)
    throw new LayerError(
      `ffmpeg ${release} for ${architecture} has changed: sha256 ${sha256} instead of ${known} (${file})`,
    );
  if (!confirmed.includes(sha256))
    throw new LayerError(
      `The checksum of ffmpeg ${release} for ${architecture} is not confirmed: sha256 ${sha256}. Compare it with that of a machine you trust, then run: npm run layer -- ${architecture} --confirm ${sha256}. Or build ffmpeg yourself: layers/ffmpeg/build-minimal.sh.`,
    );
  const added = { ...checksums, [release]: { ...checksums[release], [architecture]: sha256 } };
  await writeFile(file, `${JSON.stringify(added, null, 2)}\n`);
  return true;
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
  const partial = `${folder}.part`;
  await rm(partial, { recursive: true, force: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(partial, name, '..'), { recursive: true });
    await writeFile(join(partial, name), content, { mode: name.startsWith('bin/') ? 0o755 : 0o644 });
  }
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}
