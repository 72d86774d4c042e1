import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildLayer } from './build-layer.ts';

/**
 * `npm run layer [-- arm64|x86_64 …] [--confirm SHA256 …]` builds the layer for both architectures, or for the named ones. A checksum that
 * `checksums.json` does not have must be confirmed.
 */

const folder = fileURLToPath(new URL('.', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { confirm: { type: 'string', multiple: true, default: [] } },
});
const architectures = z
  .array(z.enum(['arm64', 'x86_64']))
  .parse(positionals.length > 0 ? positionals : ['arm64', 'x86_64']);

for (const architecture of architectures) {
  const { sha256, bytes, isNew } = await buildLayer(architecture, {
    outDir: `${folder}dist`,
    checksumsFile: `${folder}checksums.json`,
    confirmed: values.confirm,
    env: process.env,
  });
  process.stdout.write(`${architecture.padEnd(7)} ${(bytes / 1e6).toFixed(1)} MB  sha256 ${sha256}\n`);
  if (isNew) process.stdout.write('        The checksum is new: commit layers/ffmpeg/checksums.json.\n');
}
