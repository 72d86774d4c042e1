import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfTest } from '../support/temporary-folder.ts';

type Run = { options?: string[]; settings?: object; cdkExitCode?: number };

/**
 * Runs the command with a CloudFormation that gives this response, and a CDK that only prints its arguments. Returns
 * its output, its exit code and the access key that it used.
 */
async function deploy(status: number, body: string, { options = [], settings, cdkExitCode = 0 }: Run = {}) {
  const folder = folderOfTest();
  writeFileSync(join(folder, 'dev.json'), JSON.stringify({ ffmpegPath: '/opt/bin/ffmpeg', ...settings }));
  writeFileSync(join(folder, 'cdk'), `#!/bin/sh\necho cdk "$@"\nexit ${cdkExitCode}\n`, { mode: 0o755 });
  const profile = 'aws_access_key_id = PROD\naws_secret_access_key = test\n';
  writeFileSync(join(folder, 'credentials'), `[prod]\n${profile}`);
  let key: string | undefined;
  const server = createServer(({ headers }, response) => {
    key = /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1];
    response.writeHead(status).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const environment = {
    PATH: `${folder}:${process.env['PATH']}`,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    AWS_CONFIG_FILE: join(folder, 'config'),
  };
  const args = ['bin/deploy.ts', '-c', 'stage=dev', '-c', `stages=${folder}`, ...options];
  const command = spawn(process.execPath, args, { env: environment });
  let said = '';
  command.stderr.on('data', (text) => (said += text));
  command.stdout.on('data', (text) => (said += text));
  await once(command, 'close');
  server.close();
  return { said, lines: said.trim().split('\n'), exitCode: command.exitCode, key, folder };
}

const output = '<member><OutputKey>TableName</OutputKey><OutputValue>jobs</OutputValue></member>';
const stack = `<StackName>Watchpost-dev</StackName><Outputs>${output}</Outputs>`;
const result = `<DescribeStacksResult><Stacks><member>${stack}</member></Stacks></DescribeStacksResult>`;
const otherVersion = `<DescribeStacksResponse>${result}</DescribeStacksResponse>`;

test('npm run deploy ends before it builds anything if another version wrote the deployed table', async () => {
  const { said, exitCode, key } = await deploy(200, otherVersion);
  expect(said).toMatch(/^Another version of Watchpost wrote the table of Watchpost-dev.* Deploy the commit/);
  expect({ exitCode, key }).toEqual({ exitCode: 1, key: 'test' });
});

test.each([[['--profile', 'prod']], [['--profile=prod']]])(
  'npm run deploy checks the stored data of the account that it deploys to: %s',
  async (options) => {
    expect(await deploy(200, otherVersion, { options })).toMatchObject({ exitCode: 1, key: 'PROD' });
  },
);

const denied = '<ErrorResponse><Error><Code>AccessDenied</Code><Message>No</Message></Error></ErrorResponse>';

test('npm run deploy says that it could not check the stored data, deploys, and ends with who receives alarms', async () => {
  const options = ['--require-approval', 'never'];
  const { said, lines, exitCode, folder } = await deploy(403, denied, { options });
  expect(said).toMatch(
    /yellow The stack Watchpost-dev cannot be read .*Permit cloudformation:DescribeStacks/,
  );
  expect(lines).toContain(`cdk deploy -c deploy=true -c stage=dev -c stages=${folder} ${options.join(' ')}`);
  const nobody = 'yellow Alarms reach nobody: the stage has neither alarmEmail nor alarmTopicArn.';
  expect(lines.at(-1)).toContain(nobody);
  expect(exitCode).toBe(0);
  const alarmed = await deploy(403, denied, { settings: { alarmEmail: 'on-call@example.com' } });
  expect(alarmed.lines.at(-1)).toContain(
    'green  Alarms go to on-call@example.com once its owner has confirmed',
  );
});

test('a deployment that failed ends with the exit code of the CDK, without a word on alarms', async () => {
  const { said, exitCode } = await deploy(403, denied, { cdkExitCode: 3 });
  expect(exitCode).toBe(3);
  expect(said).not.toMatch(/alarms/i);
});
