/**
 * Measures what a cold start of each function loads, how long its import takes in a new process, until its settings are
 * read and until its handler is there, and a first request of `api`. An empty module is the comparison of the same run.
 * Processor time is of all threads, and less disturbed by other work on the machine.
 * Usage: npm run bench -- cold-start
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { originSecretHeader, viewerHostHeader } from '../adapters/aws/http/origins.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { buildFunctions } from '../lib/bundle/build-functions.ts';
import { functionsEnvironment } from '../test/support/functions-environment.ts';
import { openLocally } from '../test/support/servers/local-server.ts';
import { describeMachine, quantile } from './harness.ts';

const rounds = 21;
const run = promisify(execFile);
await using cleanup = new AsyncDisposableStack();
const { path: folder } = cleanup.use(openTemporaryFolder('watchpost-cold-start-'));
// Secrets Manager, and DynamoDB without items.
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end(JSON.stringify({ SecretString: 'origin secret' })));
});
const aws = await openLocally(server);
cleanup.defer(() => aws.close());
const environment = {
  ...functionsEnvironment,
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_ENDPOINT_URL: aws.url(''),
  RELEASE: 'bench',
};
const event = {
  rawPath: '/api/jobs',
  headers: {
    [originSecretHeader]: 'origin secret',
    [viewerHostHeader]: 'watch.example',
    authorization: `Bearer wp_${'a'.repeat(43)}`,
  },
  requestContext: { domainName: 'watch.example', http: { method: 'GET' } },
};
/**
 * Import in a new process. `until` the settings: one without settings ends its import with their errors; or until a
 * first request has its response.
 */
type Import = { name: string; file: string; until?: 'settings' | 'request'; kilobytes?: number };

const built = await buildFunctions(folder);
const toEntry = (name: string) => join(folder, name, 'index.mjs');
const imports: Import[] = [
  { name: 'an empty module', file: 'data:text/javascript,' },
  ...built.flatMap(({ name, bytes }): Import[] => [
    { name: `${name}, until its settings are read`, file: toEntry(name), until: 'settings' },
    { name, file: toEntry(name), kilobytes: Math.ceil(bytes / 1000) },
  ]),
  // Reads the origin secret, and the key in the table.
  { name: 'api and a request with an unknown key', file: toEntry('api'), until: 'request' },
];
const measured = imports.map((each) => ({ ...each, wallMs: [] as number[], cpuMs: [] as number[] }));
for (let round = 0; round < rounds; round += 1)
  for (const each of measured) {
    const [wallMs, cpuMs] = await measure(each);
    each.wallMs.push(wallMs);
    each.cpuMs.push(cpuMs);
  }
const rows: Record<string, object> = {};
for (const { name, kilobytes = '', wallMs, cpuMs } of measured)
  rows[name] = {
    'loaded, kB': kilobytes,
    'time, ms': quantile(wallMs, 0.5),
    'processor time, ms': quantile(cpuMs, 0.5),
  };
console.table(rows);
console.log(`medians of ${rounds} processes; ${describeMachine()}`);

async function measure({ file, until }: Import): Promise<[number, number]> {
  const script = `
    globalThis.awslambda = { streamifyResponse: (handler) => handler };
    const [begin, used] = [performance.now(), process.cpuUsage()];
    const { handler, error } = await import(${JSON.stringify(file)}).catch((error) => ({ error }));
    if (error !== undefined && (${until !== 'settings'} || error.name !== 'ZodError')) throw error;
    if (${until === 'request'}) {
      const { statusCode } = await handler(${JSON.stringify(event)}, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 10_000 });
      if (statusCode !== 401) throw new Error('Status ' + statusCode);
    }
    const { user, system } = process.cpuUsage(used);
    console.log(JSON.stringify([performance.now() - begin, (user + system) / 1000]));
    process.exit();`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    env: until === 'settings' ? { PATH: process.env['PATH'] } : environment,
  });
  const [wallMs, cpuMs] = /^\[([\d.]+),([\d.]+)\]$/m.exec(stdout)?.slice(1).map(Number) ?? [];
  if (wallMs === undefined || cpuMs === undefined) throw new Error(`No times: ${stdout}`);
  return [wallMs, cpuMs];
}
