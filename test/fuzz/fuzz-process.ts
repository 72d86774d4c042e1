import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { frameBase64 } from '../../adapters/openapi/examples/jobs.ts';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { startService } from '../support/service-process.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

/**
 * `npm run fuzz`: about ten thousand requests made from `/openapi.json` by Schemathesis against the running service;
 * fails on a 5xx, on an answer outside of the document, and on one that takes longer than 30 s. Needs Python 3 and,
 * once, its package registry.
 * Usage: npm run fuzz -- api
 *   --max-examples 400  examples of each operation
 */

const version = 'schemathesis==4.32.5';
const environment = join(tmpdir(), 'watchpost-fuzz-environment');
using temporary = openTemporaryFolder('watchpost-fuzz-');
const directory = temporary.path;

/**
 * Checks of Schemathesis that the contract contradicts: numbers may be strings, a valid request may name a stream that
 * does not exist, and a resource is readable after DELETE: jobs for an hour, keys permanently.
 */
const notOurs = 'negative_data_rejection,positive_data_acceptance,use_after_free';

await run('python3', ['-m', 'venv', environment], {});
await run(join(environment, 'bin', 'pip'), ['install', '--quiet', version], {});
const receiver = createServer((_, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const stream = await startLiveHls({
  ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg',
  inputArgs: ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=5'],
  segmentSeconds: 1,
  host: '127.0.0.1',
});
const service = await startService(join(directory, 'data'), {
  WATCHPOST_SYNC_PER_MINUTE: '0',
  WATCHPOST_SYNC_AT_ONCE: '0',
  // More than the 10 of the contract, so that more than the first few requests start a job.
  WATCHPOST_JOBS_PER_CALLER: '30',
});
try {
  process.exitCode = await run(
    join(environment, 'bin', 'schemathesis'),
    [
      'run',
      new URL('/openapi.json', service.baseUrl).href,
      '--header',
      `Authorization: Bearer ${service.internalKey}`,
      '--max-examples=400',
      // More workers trip over a fault of CPython 3.11 in threads that parse.
      '--workers=1',
      '--request-timeout=30',
      `--exclude-checks=${notOurs}`,
      '--continue-on-failure',
      '--no-shrink',
      ...process.argv.slice(2),
    ],
    {
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: import.meta.dirname,
      FUZZ_STREAM_URL: stream.url,
      FUZZ_RECEIVER_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      FUZZ_FRAME: frameBase64,
      FUZZ_KEY_ID: createHash('sha256').update(service.internalKey).digest('hex'),
    },
  );
} finally {
  await service.kill('SIGTERM');
  await stream.close();
  receiver.close();
}

async function run(command: string, args: string[], variables: Record<string, string>): Promise<number> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...variables };
  const child = spawn(command, args, { cwd: directory, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'close');
  return typeof code === 'number' ? code : 1;
}
