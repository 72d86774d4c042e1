import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { buildLayer } from '../layers/ffmpeg/build-layer.ts';
import { pythonPip } from '../layers/ffmpeg/packaged-binary.ts';
import { checkAlarms } from '../lib/operations/preflight/checks.ts';
import type { PreflightResult } from '../lib/operations/preflight/checks.ts';
import { checkStoredData } from '../lib/operations/preflight/stored-data.ts';
import { readStage } from '../lib/stages/read-stage.ts';
import type { StageSettings } from '../lib/stages/stage-settings.ts';

/**
 * `npm run deploy -- -c stage=NAME [options of cdk deploy]` builds the ffmpeg layer for the architecture of the stage and deploys its stack. Exit
 * code: that of the CDK, or 1 without a layer and over a table of another version.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    context: { type: 'string', short: 'c', multiple: true, default: [] },
    profile: { type: 'string' },
  },
  strict: false,
});
const context = new Map(
  [values.context ?? []].flat().map((pair) => [String(pair).split('=')[0], String(pair).split('=')[1]]),
);

try {
  process.exitCode = await deploy();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function deploy(): Promise<number> {
  const { name, settings } = readStage(
    context.get('stage') ?? 'dev',
    context.get('stages') ?? `${root}lib/stages`,
  );
  const { region } = settings;
  const { profile } = values;
  const stored = await checkStoredData(
    `Watchpost-${name}`,
    // With the account of `cdk deploy`.
    new CloudFormationClient({ ...(region && { region }), ...(typeof profile === 'string' && { profile }) }),
  );
  if (stored.level === 'red') throw new Error(`${stored.found} ${stored.next}`);
  if (stored.level === 'yellow') report(stored);
  if (settings.ffmpegPath === undefined) await buildFfmpeg(settings.architecture);
  const cdk = spawn('cdk', ['deploy', '-c', 'deploy=true', ...args], { stdio: 'inherit', cwd: root });
  await once(cdk, 'exit');
  if (cdk.exitCode !== 0) return cdk.exitCode ?? 1;
  report(checkAlarms(settings));
  return 0;
}

function report({ level, found, next }: Pick<PreflightResult, 'level' | 'found' | 'next'>): void {
  process.stdout.write(`\n${level.padEnd(6)} ${found}${next === undefined ? '' : ` ${next}`}\n`);
}

async function buildFfmpeg(architecture: StageSettings['architecture']): Promise<void> {
  const folder = `${root}layers/ffmpeg/`;
  const { name } = await buildLayer(architecture, {
    outDir: `${folder}dist`,
    checksumsFile: `${folder}checksums.json`,
    requirements: `${folder}requirements.txt`,
    confirmed: [],
    env: process.env,
    pip: pythonPip,
  });
  process.stdout.write(`ffmpeg for ${architecture}: ${name}\n`);
}
