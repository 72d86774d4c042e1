import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { originSecretHeader, viewerHostHeader } from '../adapters/aws/http/origin-headers.ts';
import { buildFunctions } from '../bundle/build-functions.ts';

// Measures what a cold start of each function loads, how long its import takes in a new process, and the first request of `api`.

const rounds = 9;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'watchpost-cold-start-'));
const secrets = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end(JSON.stringify({ SecretString: 'origin secret' })));
});
await new Promise<void>((resolve) => secrets.listen(0, '127.0.0.1', resolve));
const address = secrets.address();
if (address === null || typeof address === 'string') throw new Error('No port');

const environment = {
  PATH: process.env['PATH'],
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${address.port}`,
  TABLE_NAME: 'jobs',
  MEDIA_BUCKET: 'pictures',
  QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/deliveries.fifo',
  STATE_MACHINE_ARN: 'arn:aws:states:eu-west-1:1:stateMachine:watchpost',
  CAPTURE_FUNCTION: 'capture',
  ANALYZE_FUNCTION: 'analyze',
  MASTER_SECRET_ARN: 'arn:master',
  ORIGIN_SECRET_ARN: 'arn:origin',
  LOG_GROUP: '/watchpost',
  ALARM_PREFIX: 'Watchpost-bench/',
  BASE_URL: 'https://watch.example/api',
  POWERTOOLS_SERVICE_NAME: 'watchpost',
};
const event = {
  rawPath: '/openapi.json',
  headers: { [originSecretHeader]: 'origin secret', [viewerHostHeader]: 'watch.example' },
  requestContext: { domainName: 'watch.example', http: { method: 'GET' } },
};

try {
  const built = await buildFunctions(folder);
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    await measure('an empty module', 'data:text/javascript,');
    for (const { name } of built) await measure(name, join(folder, name, 'index.mjs'), name === 'api');
  }
  const [load = 0] = loadavg();
  process.stdout.write(
    `Node ${process.version}, load ${load.toFixed(1)}, medians of ${rounds} processes\n\n| function | loaded, kB | import, ms |\n| --- | ---: | ---: |\n`,
  );
  for (const [name, values] of times) {
    const size = built.find((each) => each.name === name)?.bytes;
    process.stdout.write(
      `| ${name} | ${size === undefined ? '' : Math.ceil(size / 1000)} | ${median(values).toFixed(0)} |\n`,
    );
  }

  async function measure(name: string, file: string, sendsRequest = false): Promise<void> {
    const script = `
      globalThis.awslambda = { streamifyResponse: (handler) => handler };
      const begin = performance.now();
      const { handler } = await import(${JSON.stringify(file)});
      const imported = performance.now();
      if (${sendsRequest}) {
        const { statusCode } = await handler(${JSON.stringify(event)}, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 10_000 });
        if (statusCode !== 200) throw new Error('Status ' + statusCode);
      }
      console.log(JSON.stringify([imported - begin, performance.now() - imported]));
      process.exit();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
      env: environment,
    });
    const [importMs, requestMs] = /\[([\d.]+),([\d.]+)\]/.exec(stdout)?.slice(1).map(Number) ?? [];
    if (importMs === undefined || requestMs === undefined) throw new Error(`No times: ${stdout}`);
    times.set(name, [...(times.get(name) ?? []), importMs]);
    if (sendsRequest) {
      const first = `${name}, with the first request (the OpenAPI document)`;
      times.set(first, [...(times.get(first) ?? []), importMs + requestMs]);
    }
  }
} finally {
  secrets.close();
  rmSync(folder, { recursive: true, force: true });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
