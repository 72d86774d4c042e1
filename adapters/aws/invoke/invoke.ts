import { InvokeCommand } from '@aws-sdk/client-lambda';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { throwCoreError } from '../aws-error.ts';

/**
 * Invokes a function and returns its JSON result. Throws `TransientError` for AWS errors, and `InvocationError`.
 */
export type Invoke = (payload: object, signal: AbortSignal) => Promise<unknown>;

/** Error for a function that failed with an unexpected error. Its own log contains the cause. */
export class InvocationError extends Error {
  override readonly name = 'InvocationError';
}

/** Maximum payload in bytes, below Lambda's limit of 6,291,556 bytes for synchronous invocations. */
export const maxInvokePayloadBytes = 6_000_000;

/** Creates an `Invoke` for one function. */
export function createInvoke(client: LambdaClient, functionName: string): Invoke {
  return async (payload, signal) => {
    const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) });
    const output = await client.send(command, { abortSignal: signal }).catch(throwCoreError);
    if (output.FunctionError !== undefined)
      throw new InvocationError(`The function ${functionName} failed (${output.FunctionError})`);
    const answer: unknown = JSON.parse(output.Payload?.transformToString() ?? 'null');
    return answer;
  };
}
