import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { buildLayer } from '../layers/ffmpeg/build-layer.ts';
import { pythonPip } from '../layers/ffmpeg/packaged-binary.ts';
import { checkAlarms } from '../lib/operations/preflight/checks.ts';
import type { PreflightResult } from '../lib/operations/preflight/result.ts';
import { checkStoredData } from '../lib/operations/preflight/stored-data.ts';
import type { StageSettings } from '../lib/stages/stage-settings.ts';
import { root, runForStage } from './stage-command.ts';

/**
 * `npm run deploy -- -c stage=NAME [options of cdk deploy]` builds the ffmpeg layer for the architecture of the stage
 * and deploys its stack. Exit code: that of the CDK, or 1 without a layer and over a table of another version.
 */

await runForStage(async ({ stack, settings, aws, runCdk }) => {
  const stored = await checkStoredData(stack, new CloudFormationClient(aws));
  if (stored.level === 'red') throw new Error(`${stored.found} ${stored.next}`);
  if (stored.level === 'yellow') report(stored);
  if (settings.ffmpegPath === undefined) await buildFfmpeg(settings.architecture);
  const exitCode = await runCdk('deploy', '-c', 'deploy=true');
  if (exitCode === 0) report(checkAlarms(settings));
  return exitCode;
});

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
