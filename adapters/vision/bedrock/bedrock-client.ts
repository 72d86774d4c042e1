import { BedrockRuntimeClient, type BedrockRuntimeClientConfig } from '@aws-sdk/client-bedrock-runtime';

type Settings = Pick<BedrockRuntimeClientConfig, 'region' | 'credentials' | 'endpoint'> & {
  /** Tries of one call, the first included. */
  maxAttempts?: number;
};

/**
 * The one layer at which throttling, 5xx and broken connections are retried: the SDK's standard mode, exponential with
 * jitter. Adaptive mode is not used: its limiter would hold back all jobs of the process for one model's throttling.
 */
export function createBedrockClient({ maxAttempts = 4, ...settings }: Settings): BedrockRuntimeClient {
  return new BedrockRuntimeClient({ ...settings, maxAttempts, retryMode: 'standard' });
}
