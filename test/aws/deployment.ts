import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { GetFunctionConfigurationCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { installConstruct } from '../support/packed-construct.ts';
import type { Emulator } from './emulator.ts';
import { fitTemplate, type Template } from './fit-template.ts';

const run = promisify(execFile);
const stage = 'emulator';
const stackName = `Watchpost-${stage}`;
/** Timeout of a command, in milliseconds: an empty deployment hangs instead of failing. */
const timeoutMs = 300_000;

export type Deployment = {
  stackName: string;
  outputs: Record<string, string>;
  leftOut: string[];
  template: Template;
  httpApiId: string;
  originSecret: string;
  /** Removes the stack as an operator does, and deploys it again. */
  deployAgain(): Promise<string>;
  /** Returns the environment of a deployed function, by a part of its name. */
  readEnvironment(part: string): Promise<Record<string, string>>;
  /** Folder of the deployed bundles. */
  bundles: string;
};

/**
 * Deploys the stack with the CDK CLI, without resources that the emulator does not support: from an app outside of the
 * project, which has installed the packed construct. Its id is that of the stack of a stage.
 */
export async function deploy(
  emulator: Emulator,
  directory: string,
  { bedrockEndpoint, ffmpeg }: { bedrockEndpoint: string; ffmpeg: string },
): Promise<Deployment> {
  const assembly = join(directory, 'cdk.out');
  const stages = join(directory, 'stages');
  mkdirSync(stages, { recursive: true });
  writeFileSync(join(stages, `${stage}.json`), JSON.stringify(settings(bedrockEndpoint, ffmpeg)));
  const node = (args: string[], cwd: string) =>
    run(process.execPath, args, {
      cwd,
      env: {
        ...process.env,
        ...emulator.environment,
        // `test/lib/stage-kinds.test.ts` runs the rules of the CDK.
        CDK_VALIDATION: 'false',
        PATH: `${resolve('node_modules/.bin')}:${process.env['PATH']}`,
      },
      timeout: timeoutMs,
      maxBuffer: 1e8,
    });
  const cdk = (args: string[], cwd: string) =>
    node([resolve('node_modules/aws-cdk/bin/cdk'), ...args, '--no-notices'], cwd);

  const app = join(directory, 'app');
  await installConstruct(app);
  writeFileSync(join(app, 'app.js'), appText(settings(bedrockEndpoint, ffmpeg)));
  await cdk(['synth', '--quiet', '--app', 'node app.js', '--output', assembly], app);
  const file = join(assembly, `${stackName}.template.json`);
  const { template, leftOut } = fitTemplate(JSON.parse(readFileSync(file, 'utf8')));
  writeFileSync(file, JSON.stringify(template));

  await cdk(['bootstrap', `aws://000000000000/${emulator.environment['AWS_REGION']}`], directory);
  const outputs = join(directory, 'outputs.json');
  const approved = ['--require-approval', 'never', '--outputs-file', outputs];
  await cdk(['deploy', '--app', assembly, ...approved], directory);
  await renewMasterSecret(emulator);

  return {
    stackName,
    outputs: JSON.parse(readFileSync(outputs, 'utf8'))[stackName],
    leftOut,
    template,
    deployAgain: async () => {
      const stageOptions = ['-c', `stage=${stage}`, '-c', `stages=${stages}`];
      const { stdout } = await node(['bin/destroy.ts', ...stageOptions, '--app', assembly, '--force'], '.');
      await cdk(['deploy', '--app', assembly, ...approved], directory);
      return stdout.trim();
    },
    httpApiId: await httpApiId(emulator),
    originSecret: await originSecret(emulator),
    readEnvironment: (part) => readEnvironment(emulator, part),
    bundles: join(app, 'node_modules/watchpost-cdk/dist/dist/functions'),
  };
}

function appText(settings: object): string {
  return `
    const { App, Stack } = require('aws-cdk-lib');
    const { Watchpost } = require('watchpost-cdk');
    const stack = new Stack(new App(), '${stackName}', { env: { region: process.env.CDK_DEFAULT_REGION } });
    new Watchpost(stack, 'Default', ${JSON.stringify(settings)});`;
}

/** Returns the settings that differ from a deployment on AWS. */
function settings(bedrockEndpoint: string, ffmpeg: string) {
  return {
    bedrockEndpoint,
    // The emulator runs functions as local processes, without layers.
    ffmpegPath: ffmpeg,
    architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
    // The streams and receivers of the test are on loopback.
    allowRanges: ['127.0.0.0/8'],
    allowWebhookRanges: ['127.0.0.0/8'],
    syncPerMinute: 0,
    syncAtOnce: 0,
    // A job of some seconds has several bursts.
    burstSeconds: 10,
    maxJobSeconds: 600,
    retentionSeconds: 120,
    eventBus: 'new-bus',
    // Consumers of the delivery queue: the emulator starts a process for each.
    deliveriesAtOnce: 12,
    // CDK custom resources use the SDK of the Lambda image, which the emulator lacks.
    console: false,
    keepData: true,
    deletionProtection: false,
  };
}

async function httpApiId({ endpoint }: Emulator): Promise<string> {
  const date = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const answer = await fetch(`${endpoint}/v2/apis`, {
    headers: {
      Authorization: `AWS4-HMAC-SHA256 Credential=test/${date}/us-east-1/apigateway/aws4_request, SignedHeaders=host, Signature=x`,
    },
  });
  const { items } = (await answer.json()) as { items: { apiId: string }[] };
  const [api] = items;
  if (!api) throw new Error('The emulator has no HTTP API');
  return api.apiId;
}

/** Replaces a secret by base64 text: the emulator ignores the template and generates punctuation. */
async function renewMasterSecret(emulator: Emulator): Promise<void> {
  const { MASTER_SECRET_ARN: SecretId } = await readEnvironment(emulator, 'Api');
  const SecretString = randomBytes(32).toString('base64').slice(0, 43);
  await new SecretsManagerClient(clientOptions(emulator)).send(
    new PutSecretValueCommand({ SecretId, SecretString }),
  );
}

const clientOptions = ({ endpoint }: Emulator) => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

async function originSecret(emulator: Emulator): Promise<string> {
  const { ORIGIN_SECRET_ARN: SecretId } = await readEnvironment(emulator, 'Api');
  const client = new SecretsManagerClient(clientOptions(emulator));
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
  return SecretString ?? '';
}

async function readEnvironment(emulator: Emulator, part: string): Promise<Record<string, string>> {
  const client = new LambdaClient(clientOptions(emulator));
  const { Functions = [] } = await client.send(new ListFunctionsCommand({}));
  const found = Functions.find(({ FunctionName = '' }) => FunctionName.includes(part));
  if (!found)
    throw new Error(`No function matches ${part}: ${Functions.map((f) => f.FunctionName).join(', ')}`);
  const { Environment } = await client.send(
    new GetFunctionConfigurationCommand({ FunctionName: found.FunctionName }),
  );
  return Environment?.Variables ?? {};
}
