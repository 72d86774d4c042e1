import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { FileSystem } from 'aws-cdk-lib';
import { createBurstDefinition } from '../../adapters/aws/bursts.ts';
import { storageVersion } from '../../adapters/aws/dynamodb/table/storage-version.ts';
import { rules } from '../../core/rules.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { readDefinition } from '../workflow/read-definition.ts';

/** Code of a deployment beside its bundles. */
const layer = fileURLToPath(new URL('../../layers/ffmpeg/', import.meta.url));
const stack = fileURLToPath(new URL('../', import.meta.url));

/**
 * Returns the id of what a synthesis deploys, `<release>-<workflow>`: a hash of code, layer and settings, and one of the workflow definitions and the
 * version of the stored data, between which no rollback is possible. Each
 * function has it in its description, so that a deployment of anything new publishes a version of every function.
 */
export function computeRelease(bundles: string, settings: StageSettings): string {
  const definitions = [
    readDefinition('bursts.asl.json'),
    createBurstDefinition(readDefinition('run.asl.json'), settings.burstSeconds || rules.maxBurstSeconds),
  ];
  const content = [
    FileSystem.fingerprint(bundles),
    FileSystem.fingerprint(layer),
    FileSystem.fingerprint(stack, { exclude: ['bundle', 'stages'] }),
  ];
  return `${shortHash([content, settings])}-${shortHash([...definitions, storageVersion])}`;
}

function shortHash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10);
}
