import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { KMSClient } from '@aws-sdk/client-kms';
import { DefaultStackSynthesizer } from 'aws-cdk-lib';
import { z } from 'zod';
import { visionProviders } from '../adapters/vision/aws-provider-registry.ts';
import { pythonPip } from '../layers/ffmpeg/packaged-binary.ts';
import { checkAccount, checkEdgeLogs, toExitCode } from '../lib/operations/preflight/checks.ts';
import { listActions } from '../lib/operations/preflight/deployment-actions.ts';
import { checkEncryptionKey } from '../lib/operations/preflight/encryption-key.ts';
import { checkEventBus } from '../lib/operations/preflight/event-bus.ts';
import { createFactClients, readFacts } from '../lib/operations/preflight/facts.ts';
import { checkStoredData } from '../lib/operations/preflight/stored-data.ts';
import { readStage } from '../lib/stages/read-stage.ts';
import type { StageSettings } from '../lib/stages/stage-settings.ts';
import { assertArnRegions, assertStreamOrigin, assertSupportedRegion } from '../lib/stages/region.ts';

/**
 * `npm run preflight -- -c stage=NAME [--json]` checks an account before a deployment, with the credentials of the
 * operator. Changes nothing. Exit code 0 if nothing is red, 1 if something is, 2 if the stage is invalid.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
/**
 * Context of the CDK with the qualifier of another bootstrap
 * (docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html).
 */
const qualifierName = '@aws-cdk/core:bootstrapQualifier';
try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      context: { type: 'string', short: 'c', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write('Usage: npm run preflight -- -c stage=NAME [--json]\n');
    return 0;
  }
  const context = new Map(values.context.map((pair) => [pair.split('=')[0], pair.split('=')[1]]));
  const { name, settings } = readStage(
    context.get('stage') ?? 'dev',
    context.get('stages') ?? `${root}lib/stages`,
  );
  const region = settings.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
  if (region === undefined) throw new Error('No region: set AWS_REGION, or region in the stage.');
  assertSupportedRegion(region);
  assertStreamOrigin(settings, region);
  assertArnRegions(name, settings, region);
  const { modelId, region: modelRegion } = visionProviders[settings.visionProvider].readStage(
    settings,
    region,
  );
  const facts = await readFacts(createFactClients(region, modelRegion), {
    region,
    stack: `Watchpost-${name}`,
    qualifier:
      context.get(qualifierName) ?? readContext()[qualifierName] ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER,
    modelId,
    calledId: settings.modelId ?? modelId,
    actions: listActions({ ...settings, region }),
    layerFile: `${root}layers/ffmpeg/dist/${settings.architecture}/bin/ffmpeg`,
    pip: pythonPip,
  });
  const results = [
    ...checkAccount(facts, settings, modelId),
    checkEdgeLogs(settings, region),
    await checkStoredData(`Watchpost-${name}`, new CloudFormationClient({ region })),
    ...(await checkEventBus(settings.eventBus, new EventBridgeClient({ region }))),
    ...(await checkEncryptionKey(settings.encryptionKeyArn, region, new KMSClient({ region }))),
    ...(await checkOwnNetwork(settings, region)),
  ];
  const streamHour = priceStreamHour(modelId, settings.burstSeconds);
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ stage: name, region, modelId, results, streamHour })}\n`);
    return toExitCode(results);
  }
  for (const { check, level, found, next } of results) {
    process.stdout.write(`${level.padEnd(6)} ${check.padEnd(18)} ${found}\n`);
    if (next !== undefined) process.stdout.write(`${' '.repeat(26)}→ ${next}\n`);
  }
  if (streamHour !== undefined)
    process.stdout.write(`A stream-hour in clip mode costs about $${streamHour.toFixed(3)}.
`);
  return toExitCode(results);
}

/** Checks subnets of the deployer, with a client of 27 MB that other stages do not load. */
async function checkOwnNetwork(settings: StageSettings, region: string) {
  if ((settings.network ?? settings.fixedEgress) === undefined) return [];
  const [{ EC2Client }, { checkNetwork }] = await Promise.all([
    import('@aws-sdk/client-ec2'),
    import('../lib/operations/preflight/network.ts'),
  ]);
  return checkNetwork(settings, region, new EC2Client({ region }));
}

function readContext(): Record<string, string | undefined> {
  const file: unknown = JSON.parse(readFileSync(`${root}cdk.json`, 'utf8'));
  return z.object({ context: z.object({ [qualifierName]: z.string().optional() }) }).parse(file).context;
}

/** Runs the calculator (`npm run watchpost -- cost`). Returns undefined for a model without a known price. */
function priceStreamHour(modelId: string, burstSeconds: number): number | undefined {
  const options = ['--mode', 'clip', '--model', modelId, '--burst-seconds', String(burstSeconds)];
  try {
    const text = execFileSync(process.execPath, [`${root}cli/watchpost.ts`, 'cost', '--json', ...options], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return z.object({ total: z.number() }).parse(JSON.parse(text)).total;
  } catch {
    return undefined;
  }
}
