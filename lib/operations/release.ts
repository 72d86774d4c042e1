import { createHash } from 'node:crypto';
import { FileSystem, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { createBurstDefinition } from '../../adapters/aws/bursts.ts';
import { storageVersion } from '../../adapters/aws/dynamodb/table/record.ts';
import { rules } from '../../core/rules.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { projectFolder } from '../files.ts';
import { readDefinition } from '../workflow/state-machines.ts';

/** Code of a deployment beside its bundles. */
const layer = `${projectFolder}layers/ffmpeg/`;
const stack = `${projectFolder}lib/`;

/**
 * Returns the id of what a synthesis deploys, `<release>-<workflow>`: a hash of code, layer and settings, and one of
 * the workflow definitions and the version of the stored data, between which no rollback is possible. Each function has
 * it in its description, so that a deployment of anything new publishes a version of every function.
 */
export function computeRelease(scope: Construct, bundles: string, settings: StageSettings): string {
  const definitions = [
    readDefinition('bursts.asl.json'),
    createBurstDefinition(readDefinition('run.asl.json'), settings.burstSeconds || rules.maxBurstSeconds),
  ];
  const content = [
    FileSystem.fingerprint(bundles),
    FileSystem.fingerprint(layer),
    FileSystem.fingerprint(stack, { exclude: ['bundle', 'dist', 'stages'] }),
  ];
  return `${shortHash([content, Stack.of(scope).resolve(settings)])}-${shortHash([...definitions, storageVersion])}`;
}

function shortHash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10);
}
