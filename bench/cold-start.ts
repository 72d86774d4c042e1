import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { originSecretHeader, viewerHostHeader } from '../adapters/aws/http/origin-headers.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { buildFunctions } from '../lib/bundle/build-functions.ts';
import { functionsEnvironment } from '../test/support/functions-environment.ts';
import { openLocally } from '../test/support/servers/local-server.ts';
import { describeMachine, quantile } from './harness.ts';

// Measures what a cold start of each function loads, how long its import takes in a new process, until its settings are read and until its handler is
// there, and two first requests of `api`. An empty module is the comparison of the same run. Processor time is of all threads, and less disturbed by other
// work on the machine. Usage: node bench/cold-start.ts [rounds]

const rounds = Number(process.argv[2] ?? 21);
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
const toEvent = (rawPath: string) => ({
  rawPath,
  headers: {
    [originSecretHeader]: 'origin secret',
    [viewerHostHeader]: 'watch.example',
    authorization: `Bearer wp_${'a'.repeat(43)}`,
  },
  requestContext: { domainName: 'watch.example', http: { method: 'GET' } },
});
/** Import in a new process. `until` the settings: one without settings ends its import with their errors. `request` is a first request, with its status. */
type Import = {
  name: string;
  file: string;
  until?: 'settings';
  kilobytes?: number;
  request?: { path: string; status: number };
};

const built = await buildFunctions(folder);
const toEntry = (name: string) => join(folder, name, 'index.mjs');
const imports: Import[] = [
  { name: 'an empty module', file: 'data:text/javascript,' },
  ...built.flatMap(({ name, bytes }): Import[] => [
    { name: `${name}, until its settings are read`, file: toEntry(name), until: 'settings' },
    { name, file: toEntry(name), kilobytes: Math.ceil(bytes / 1000) },
  ]),
  // The first one reads the origin secret and the key in the table, the second one needs no key.
  {
    name: 'api and a request with an unknown key',
    file: toEntry('api'),
    request: { path: '/api/jobs', status: 401 },
  },
  {
    name: 'api and the OpenAPI document',
    file: toEntry('api'),
    request: { path: '/openapi.json', status: 200 },
  },
];
const measured = imports.map((each) => ({
  ...each,
  wallMs: new Array<number>(),
  cpuMs: new Array<number>(),
}));
for (let round = 0; round < rounds; round += 1)
  for (const each of measured) {
    const [wallMs, cpuMs] = await measure(each);
    each.wallMs.push(wallMs);
    each.cpuMs.push(cpuMs);
  }
console.table(
  Object.fromEntries(
    measured.map(({ name, kilobytes = '', wallMs, cpuMs }) => [
      name,
      {
        'loaded, kB': kilobytes,
        'time, ms': quantile(wallMs, 0.5),
        'processor time, ms': quantile(cpuMs, 0.5),
      },
    ]),
  ),
);
console.log(`medians of ${rounds} processes; ${describeMachine()}`);

async function measure({ file, until, request }: Import): Promise<[number, number]> {
  const script = `
    globalThis.awslambda = { streamifyResponse: (handler) => handler };
    const [begin, used] = [performance.now(), process.cpuUsage()];
    const { handler, error } = await import(${JSON.stringify(file)}).catch((error) => ({ error }));
    if (error !== undefined && (${until === undefined} || error.name !== 'ZodError')) throw error;
    if (${request !== undefined}) {
      const { statusCode } = await handler(${JSON.stringify(toEvent(request?.path ?? ''))}, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 10_000 });
      if (statusCode !== ${request?.status}) throw new Error('Status ' + statusCode);
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
