import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { originSecretHeader, viewerHostHeader } from '../adapters/aws/http/origin-headers.ts';
import { buildFunctions } from '../lib/bundle/build-functions.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { describeMachine, quantile } from './harness.ts';

// Measures what a cold start of each function loads, how long its import takes in a new process, until its settings are read and until its handler is
// there, and two first requests of `api`. A bundle of bare Hono is the comparison of the same run. Processor time is of all threads, and less
// disturbed by other work on the machine. Usage: node bench/cold-start.ts [rounds]

const rounds = Number(process.argv[2] ?? 21);
const run = promisify(execFile);
using temporary = openTemporaryFolder('watchpost-cold-start-');
const folder = temporary.path;
// Secrets Manager, and DynamoDB without items.
const aws = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end(JSON.stringify({ SecretString: 'origin secret' })));
});
await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve));
const address = aws.address();
if (address === null || typeof address === 'string') throw new Error('No port');

const environment = {
  PATH: process.env['PATH'],
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_ENDPOINT_URL: `http://127.0.0.1:${address.port}`,
  TABLE_NAME: 'jobs',
  RELEASE: 'bench',
  MEDIA_BUCKET: 'pictures',
  QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/deliveries.fifo',
  STATE_MACHINE_ARN: 'arn:aws:states:eu-west-1:1:stateMachine:watchpost',
  CAPTURE_FUNCTION: 'capture',
  MODEL: JSON.stringify({ provider: 'bedrock', model: 'nova', supportsVideo: true, price: null }),
  ANALYZE_FUNCTION: 'analyze',
  MASTER_SECRET_ARN: 'arn:master',
  ORIGIN_SECRET_ARN: 'arn:origin',
  LOG_GROUP: '/watchpost',
  ALARM_PREFIX: 'Watchpost-bench/',
  BASE_URL: 'https://watch.example/api',
  POWERTOOLS_SERVICE_NAME: 'watchpost',
};
const authorization = `Bearer wp_${'a'.repeat(43)}`;
const toEvent = (rawPath: string) => ({
  rawPath,
  headers: { [originSecretHeader]: 'origin secret', [viewerHostHeader]: 'watch.example', authorization },
  requestContext: { domainName: 'watch.example', http: { method: 'GET' } },
});
/** First requests: the first one reads the origin secret and the key in the table, the second one needs no key. */
const requests = [
  { name: 'a request with an unknown key', path: '/api/jobs', status: 401 },
  { name: 'the OpenAPI document', path: '/openapi.json', status: 200 },
];
type FirstRequest = (typeof requests)[number];
type Times = { wallMs: number; cpuMs: number };
/** `until` the settings: a process without settings ends its import with their errors. */
type Import = { name: string; file: string; until: 'settings' | 'handler'; request?: FirstRequest };

try {
  const built = await buildFunctions(folder);
  const hono = join(folder, 'hono.mjs');
  await build({
    stdin: { contents: "import { Hono } from 'hono'; new Hono();", resolveDir: import.meta.dirname },
    outfile: hono,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
  });
  const times = new Map<string, Times[]>();
  const toEntry = (name: string) => join(folder, name, 'index.mjs');
  const imports: Import[] = [
    { name: 'an empty module', file: 'data:text/javascript,', until: 'handler' },
    { name: 'bare Hono', file: hono, until: 'handler' },
    ...built.flatMap(({ name }): Import[] => [
      { name: `${name}, until its settings are read`, file: toEntry(name), until: 'settings' },
      { name, file: toEntry(name), until: 'handler' },
    ]),
    ...requests.map((request): Import => ({
      name: `api and ${request.name}`,
      file: toEntry('api'),
      until: 'handler',
      request,
    })),
  ];
  for (let round = 0; round < rounds; round += 1) {
    for (const each of imports) await measure(each);
  }
  const rows = [...times].map(([name, values]) => {
    const size = built.find((each) => each.name === name)?.bytes;
    const row = {
      'loaded, kB': size === undefined ? '' : Math.ceil(size / 1000),
      'time, ms': quantile(
        values.map(({ wallMs }) => wallMs),
        0.5,
      ),
      'processor time, ms': quantile(
        values.map(({ cpuMs }) => cpuMs),
        0.5,
      ),
    };
    return [name, row];
  });
  console.table(Object.fromEntries(rows));
  console.log(`medians of ${rounds} processes; ${describeMachine()}`);

  async function measure({ name, file, until, request }: Import): Promise<void> {
    const script = `
      globalThis.awslambda = { streamifyResponse: (handler) => handler };
      const [begin, used] = [performance.now(), process.cpuUsage()];
      const { handler, error } = await import(${JSON.stringify(file)}).catch((error) => ({ error }));
      if (error !== undefined && (${until === 'handler'} || error.name !== 'ZodError')) throw error;
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
    times.set(name, [...(times.get(name) ?? []), { wallMs, cpuMs }]);
  }
} finally {
  aws.close();
}
