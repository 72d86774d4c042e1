import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { estimate } from '../cli/cost/estimate.ts';
import { visionProviders } from '../adapters/vision/providers.ts';
import { checkAccount, exitCodeOf } from '../lib/preflight/checks.ts';
import { createFactClients, readFacts } from '../lib/preflight/facts.ts';
import { readStage } from '../lib/stage/read-stage.ts';

/**
 * `npm run preflight -- -c stage=NAME [--json]` checks an account before a deployment, with the credentials of the operator. Changes nothing. Exit
 * code 0 if nothing is red, 1 if something is, 2 if the stage is invalid.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    context: { type: 'string', short: 'c', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
});

try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

async function run(): Promise<number> {
  const context = new Map(values.context.map((pair) => [pair.split('=')[0], pair.split('=')[1]]));
  const { name, settings } = readStage(
    context.get('stage') ?? 'dev',
    context.get('stages') ?? `${root}stages`,
  );
  const region = settings.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
  if (region === undefined) throw new Error('No region: set AWS_REGION, or region in the stage.');
  const { modelId } = visionProviders[settings.visionProvider].readStage(settings, region);
  const facts = await readFacts(createFactClients(region, settings.bedrockRegion ?? region), {
    region,
    modelId,
    layerFile: `${root}layers/ffmpeg/dist/${settings.architecture}/bin/ffmpeg`,
  });
  const results = checkAccount(facts, settings, modelId);
  const hour = await estimate({
    intervalSeconds: 10,
    mode: 'clip',
    clipSeconds: 3,
    skippedShare: 0,
    alertsPerHour: 1,
    model: modelId,
    burstSeconds: settings.burstSeconds,
  }).catch(() => undefined);
  if (values.json) {
    process.stdout.write(
      `${JSON.stringify({ stage: name, region, modelId, results, streamHour: hour?.total })}\n`,
    );
    return exitCodeOf(results);
  }
  for (const { check, level, found, next } of results) {
    process.stdout.write(`${level.padEnd(6)} ${check.padEnd(18)} ${found}\n`);
    if (next !== undefined) process.stdout.write(`${' '.repeat(26)}→ ${next}\n`);
  }
  if (hour) process.stdout.write(`A stream-hour in clip mode costs about $${hour.total.toFixed(3)}.\n`);
  return exitCodeOf(results);
}
