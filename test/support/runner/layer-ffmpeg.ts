import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locateFfmpeg } from '../../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { buildLayer } from '../../../layers/ffmpeg/build-layer.ts';
import { DownloadError, pythonPip } from '../../../layers/ffmpeg/packaged-binary.ts';

const inProject = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const outDir = inProject('node_modules/.cache/ffmpeg-layer');
const architecture = process.arch === 'arm64' ? 'arm64' : 'x86_64';

const layerFolder = `${outDir}/${architecture}/bin`;

/** PATH of users, whose ffmpeg may be older. */
export const systemPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => folder !== layerFolder)
  .join(delimiter);

/**
 * PATH of what captures with the ffmpeg of the layer on AWS: without libraries to load, it starts in a fifth of the
 * processor time of Debian's.
 */
export const layerPath = [layerFolder, systemPath].join(delimiter);

/** Returns the path of the ffmpeg that users have; null without one. */
export async function findSystemFfmpeg(): Promise<string | null> {
  const located = await locateFfmpeg({ env: { PATH: systemPath }, importStatic: async () => null }).catch(
    () => null,
  );
  return located?.path ?? null;
}

/** Fetches that ffmpeg (Vitest global setup). Where it cannot be had, the other one on the PATH is used. */
export async function setup(): Promise<void> {
  if (process.platform !== 'linux') return;
  try {
    await buildLayer(architecture, {
      outDir,
      checksumsFile: inProject('layers/ffmpeg/checksums.json'),
      requirements: inProject('layers/ffmpeg/requirements.txt'),
      confirmed: [],
      env: process.env,
      pip: pythonPip,
    });
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    process.stderr.write(`The tests use the ffmpeg on the PATH: ${error.message}\n`);
  }
}
