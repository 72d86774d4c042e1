import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildLayer } from './build-layer.ts';
import { findNewestVersion, pythonPip, readLockedVersion } from './packaged-binary.ts';

/**
 * `npm run layer [-- arm64|x86_64 …] [--confirm SHA256 …] [--newest]` builds the layer for both architectures, or for
 * the named ones. `--confirm` records the checksum of the release of ffmpeg-static. `--newest` fails if there is a
 * newer version of the wheels.
 */

const folder = fileURLToPath(new URL('.', import.meta.url));
const requirements = `${folder}requirements.txt`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    confirm: { type: 'string', multiple: true, default: [] },
    newest: { type: 'boolean', default: false },
  },
});
const architectures = z
  .array(z.enum(['arm64', 'x86_64']))
  .parse(positionals.length > 0 ? positionals : ['arm64', 'x86_64']);

try {
  for (const architecture of architectures) await build(architecture);
  if (values.newest) await requireNewest();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.stderr.write('docs/operate/ffmpeg.md has the other ways to an ffmpeg.\n');
  process.exitCode = 1;
}

async function build(architecture: 'arm64' | 'x86_64'): Promise<void> {
  const { name, sha256, bytes, isNew } = await buildLayer(architecture, {
    outDir: `${folder}dist`,
    checksumsFile: `${folder}checksums.json`,
    requirements,
    confirmed: values.confirm,
    env: process.env,
    pip: pythonPip,
  });
  const megabytes = (bytes / 1e6).toFixed(1);
  process.stdout.write(`${architecture.padEnd(7)} ${name}, ${megabytes} MB, sha256 ${sha256}\n`);
  if (isNew) process.stdout.write('        The checksum is new: commit layers/ffmpeg/checksums.json.\n');
}

async function requireNewest(): Promise<void> {
  const [locked, newest] = [await readLockedVersion(requirements), await findNewestVersion(pythonPip)];
  if (locked !== newest) throw new Error(`imageio-ffmpeg ${newest} is newer than the locked ${locked}.`);
  process.stdout.write(`imageio-ffmpeg ${locked} is the newest version.\n`);
}
