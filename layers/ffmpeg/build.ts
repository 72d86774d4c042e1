import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { buildLayer } from './build-layer.ts';

/** `npm run layer [-- arm64|x86_64 …]` builds the layer for both architectures, or for the named ones. */

const folder = fileURLToPath(new URL('.', import.meta.url));
const architectures = z
  .array(z.enum(['arm64', 'x86_64']))
  .parse(process.argv.length > 2 ? process.argv.slice(2) : ['arm64', 'x86_64']);

for (const architecture of architectures) {
  const { sha256, bytes, isNew } = await buildLayer(architecture, {
    outDir: `${folder}dist`,
    checksumsFile: `${folder}checksums.json`,
    env: process.env,
  });
  process.stdout.write(`${architecture.padEnd(7)} ${(bytes / 1e6).toFixed(1)} MB  sha256 ${sha256}\n`);
  if (isNew) process.stdout.write('        The checksum is new: commit layers/ffmpeg/checksums.json.\n');
}
