import { BedrockRuntimeClient, type BedrockRuntimeClientConfig } from '@aws-sdk/client-bedrock-runtime';

type Settings = Pick<BedrockRuntimeClientConfig, 'region' | 'credentials' | 'endpoint'> & {
  /** Maximum attempts of one call, including the first. */
  maxAttempts?: number;
};

/**
 * Creates the client, the only layer that retries throttling, 5xx and broken connections: exponential backoff with
 * jitter (standard mode). Adaptive mode would slow down all jobs of the process if one model is throttled.
 */
export function createBedrockClient({ maxAttempts = 4, ...settings }: Settings): BedrockRuntimeClient {
  return new BedrockRuntimeClient({ ...settings, maxAttempts, retryMode: 'standard' });
}
