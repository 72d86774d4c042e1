import type { Context } from 'aws-lambda';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTelemetry } from '../../../../adapters/aws/telemetry/telemetry.ts';
import { TransientError } from '../../../../core/errors.ts';
import { readStandardOutput } from '../standard-output.ts';

const context = {
  awsRequestId: 'request-1',
  functionName: 'watchpost-api',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:1:function:watchpost-api',
  memoryLimitInMB: '512',
} as Context;

let output: ReturnType<typeof readStandardOutput>;
beforeEach(() => {
  output = readStandardOutput();
});
afterEach(() => output.close());
const lines = (): Record<string, any>[] => output.lines().map((line) => JSON.parse(line));

describe('createTelemetry', () => {
  test('an entry contains the deployment and the request, with its data in fields', async () => {
    const { log, during } = createTelemetry({ level: 'info', service: 'harbour' });

    await during(context, async () => log.info('[JOB:0c4c1c5e] Job started', { interval_seconds: 10 }));

    expect(lines()[0]).toMatchObject({
      level: 'INFO',
      message: '[JOB:0c4c1c5e] Job started',
      service: 'harbour',
      function_request_id: 'request-1',
      fields: { interval_seconds: 10 },
    });
  });

  test('no secret is logged', async () => {
    const { log } = createTelemetry({ level: 'info', service: 'harbour' });

    log.error('Cannot open rtsp://admin:hunter2@camera/live', {
      error: 'Authorization: Bearer wp_abcdefghijklmnopqrstuvwxyz',
    });

    expect(output.lines()[0]).not.toMatch(/hunter2|abcdefghijk/);
  });

  test('metrics of a caller have its name as a dimension, and those of the deployment do not', async () => {
    const { measurements, during } = createTelemetry({ level: 'info', service: 'harbour' });
    for (const _ of [1, 2])
      await during(context, async () => {
        measurements.add('Ticks');
        measurements.add('TokensToday', 100, 'mooring');
        measurements.add('CostUsdToday', 0.003, 'mooring');
        measurements.add('TokensToday', 7, '(others)');
      });

    const dimensions = lines().map(({ _aws }) => _aws.CloudWatchMetrics[0].Dimensions);
    const own = [['service', 'caller']];
    expect(dimensions).toEqual([[['service']], own, own, [['service']], own, own]);
    expect(lines()[1]).toMatchObject({ caller: 'mooring', TokensToday: 100, CostUsdToday: 0.003 });
    expect(lines()[2]).toMatchObject({ caller: '(others)', TokensToday: 7 });
  });

  test('entries below the minimum level are not logged', () => {
    const { log } = createTelemetry({ level: 'warning', service: 'harbour' });

    log.debug('a');
    log.info('b');
    log.warning('c');

    expect(lines().map(({ level }) => level)).toEqual(['WARN']);
  });

  test('metrics are one line in embedded metric format, also after a failure', async () => {
    const { measurements, during } = createTelemetry({ level: 'info', service: 'harbour' });

    await expect(
      during(context, async () => {
        measurements.add('Ticks');
        measurements.add('InputTokens', 240);
        measurements.add('InputTokens', 60);
        throw new Error('broken');
      }),
    ).rejects.toThrow();

    expect(lines()).toHaveLength(2);
    expect(lines()[1]).toMatchObject({ service: 'harbour', Ticks: 1, InputTokens: [240, 60] });
    expect(lines()[1]?.['_aws'].CloudWatchMetrics[0]).toMatchObject({
      Namespace: 'Watchpost',
      Dimensions: [['service']],
    });
  });

  test('an error leaves a function with its name only, and its text is logged without secrets', async () => {
    const { during } = createTelemetry({ level: 'info', service: 'harbour' });
    const failing = during(context, async () => {
      throw new TransientError('Cannot read rtsp://admin:hunter2@camera/live, a picture of Ada');
    });

    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'TransientError' });
    expect(`${String(error)} ${(error as Error).stack}`).not.toMatch(/Ada|hunter2|camera/);
    expect(output.lines()[0]).toMatch(/Invocation failed.*a picture of Ada/);
    expect(output.lines()[0]).not.toContain('hunter2');
  });

  test('an invocation without metrics logs nothing', async () => {
    const { during } = createTelemetry({ level: 'info', service: 'harbour' });

    await during(context, async () => undefined);

    expect(output.lines()).toEqual([]);
  });
});

const run = promisify(execFile);

/** Environment of Lambda, in a separate process: Powertools reads it at load time. */
const lambda = {
  PATH: process.env['PATH'],
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_REGION: 'eu-west-1',
  LAMBDA_TASK_ROOT: '/var/task',
  _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1',
  AWS_XRAY_DAEMON_ADDRESS: '127.0.0.1:9',
};

test('requests to receivers and streams are not traced: their URLs may be secret, and trace ids must stay internal', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const script = `
    const { createTelemetry } = await import(${JSON.stringify(new URL('../../../../adapters/aws/telemetry/telemetry.ts', import.meta.url).href)});
    const { request } = await import('undici');
    const { during } = createTelemetry({ level: 'info', service: 'harbour' });
    const context = { awsRequestId: '1', functionName: 'deliver', memoryLimitInMB: '512' };
    await during(context, async () => {
      await request('http://127.0.0.1:${port}/services/secret', { method: 'POST' });
      await fetch('http://127.0.0.1:${port}/services/secret');
    });`;

  await run(process.execPath, ['--input-type=module', '-e', script], { env: lambda });

  expect(seen).toHaveLength(2);
  for (const headers of seen) expect(headers).not.toHaveProperty('x-amzn-trace-id');
});
