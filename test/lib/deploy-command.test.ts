import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';

test('npm run deploy ends before it builds anything if another version wrote the deployed table', async () => {
  const server = createServer((_, response) => {
    const output = '<member><OutputKey>TableName</OutputKey><OutputValue>jobs</OutputValue></member>';
    const stack = `<StackName>Watchpost-dev</StackName><Outputs>${output}</Outputs>`;
    const result = `<DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult>`;
    response.end(`<DescribeStacksResponse>${result}</DescribeStacksResponse>`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const environment = {
    PATH: process.env['PATH'],
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  const deploy = spawn(process.execPath, ['bin/deploy.ts', '-c', 'stage=dev'], { env: environment });
  let said = '';
  deploy.stderr.on('data', (text) => (said += text));
  deploy.stdout.on('data', (text) => (said += text));
  await once(deploy, 'close');
  server.close();
  expect(said).toMatch(/^Another version of Watchpost wrote the table of Watchpost-dev.* Deploy the commit/);
  expect(deploy.exitCode).toBe(1);
});
