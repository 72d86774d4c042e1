import { GetSecretValueCommand, ResourceNotFoundException } from '@aws-sdk/client-secrets-manager';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { isOver } from '../../core/time.ts';
import { failed } from './platform-error.ts';

export type SecretOptions = {
  client: SecretsManagerClient;
  /** ARN of the secret: a text, not JSON. */
  arn: string;
  now: () => Date;
  /** How long a value is used before it is read again. Default 5 minutes, which a rotation has to allow for. */
  keptSeconds?: number;
};

export type Secret = {
  current(): Promise<string>;
  /**
   * Both versions that are good while it rotates, the newest first; one where it never rotated. `mostSeconds`: how old the reading may be,
   * for who was shown a version that may be newer than what is known.
   */
  versions(mostSeconds?: number): Promise<string[]>;
};

/** A secret of Secrets Manager, read when it is first used, and again when the time is over. A reading that fails is not kept. */
export function createSecret({ client, arn, now, keptSeconds = 300 }: SecretOptions): Secret {
  const newest = keptReading(() => read('AWSCURRENT'), now);
  const older = keptReading(() => read('AWSPREVIOUS'), now);

  return {
    current: async () => present(await newest(keptSeconds)),
    versions: async (mostSeconds = keptSeconds) => {
      const values = await Promise.all([newest(mostSeconds), older(mostSeconds)]);
      return [...new Set(values.filter((value) => value !== undefined))];
    },
  };

  async function read(stage: string): Promise<string | undefined> {
    try {
      const value = await client.send(new GetSecretValueCommand({ SecretId: arn, VersionStage: stage }));
      return value.SecretString;
    } catch (error) {
      // No such version: it never rotated.
      if (stage === 'AWSPREVIOUS' && error instanceof ResourceNotFoundException) return undefined;
      return failed(error);
    }
  }
}

function present(value: string | undefined): string {
  if (value === undefined) throw new Error('The secret holds no text');
  return value;
}

/** Who asks at the same time waits for the same reading. */
function keptReading<Value>(read: () => Promise<Value>, now: () => Date) {
  let kept: { value: Promise<Value>; at: Date } | undefined;
  return async (mostSeconds: number): Promise<Value> => {
    const at = now();
    if (kept && !isOver(kept.at, mostSeconds, at)) return kept.value;
    const begun = { value: read(), at };
    kept = begun;
    try {
      return await begun.value;
    } catch (error) {
      if (kept === begun) kept = undefined;
      throw error;
    }
  };
}
