import { GetSecretValueCommand, ResourceNotFoundException } from '@aws-sdk/client-secrets-manager';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { isOver } from '../../core/time.ts';
import { throwCoreError } from './aws-error.ts';

export type SecretOptions = {
  client: SecretsManagerClient;
  /** ARN of a secret that contains text, not JSON. */
  arn: string;
  now: () => Date;
  /** Cache time, in seconds. Default: 300, which a rotation must allow for. */
  cacheSeconds?: number;
};

export type Secret = {
  current(): Promise<string>;
  /**
   * Returns the valid versions during a rotation, newest first, or one if the secret never rotated. `maxAgeSeconds`
   * is the maximum age of the cached values, for callers that may have seen a newer version.
   */
  versions(maxAgeSeconds?: number): Promise<string[]>;
};

/**
 * Creates a cached secret of Secrets Manager, read at first use and after its cache time. Failed reads are not
 * cached.
 */
export function createSecret({ client, arn, now, cacheSeconds = 300 }: SecretOptions): Secret {
  const newest = keptReading(() => read('AWSCURRENT'), now);
  const older = keptReading(() => read('AWSPREVIOUS'), now);

  return {
    current: async () => present(await newest(cacheSeconds)),
    versions: async (maxAgeSeconds = cacheSeconds) => {
      const values = await Promise.all([newest(maxAgeSeconds), older(maxAgeSeconds)]);
      return [...new Set(values.filter((value) => value !== undefined))];
    },
  };

  async function read(stage: string): Promise<string | undefined> {
    try {
      const value = await client.send(new GetSecretValueCommand({ SecretId: arn, VersionStage: stage }));
      return value.SecretString;
    } catch (error) {
      // The secret has never rotated.
      if (stage === 'AWSPREVIOUS' && error instanceof ResourceNotFoundException) return undefined;
      return throwCoreError(error);
    }
  }
}

function present(value: string | undefined): string {
  if (value === undefined) throw new Error('The secret holds no text');
  return value;
}

/** Caches a read. Concurrent calls share it. */
function keptReading<Value>(read: () => Promise<Value>, now: () => Date) {
  let kept: { value: Promise<Value>; at: Date } | undefined;
  return async (maxAgeSeconds: number): Promise<Value> => {
    const readAt = now();
    if (kept && !isOver(kept.at, maxAgeSeconds, readAt)) return kept.value;
    const begun = { value: read(), at: readAt };
    kept = begun;
    try {
      return await begun.value;
    } catch (error) {
      if (kept === begun) kept = undefined;
      throw error;
    }
  };
}
