import { InvokeCommand } from '@aws-sdk/client-lambda';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { failed } from '../platform-error.ts';

/** Calls a function and waits for what it returns, as JSON. Throws `TransientError` where AWS could not, and `InvocationError`. */
export type Invoke = (payload: object, signal: AbortSignal) => Promise<unknown>;

/** The function ended with an error that has no name in the core; its own log has the cause. */
export class InvocationError extends Error {
  override readonly name = 'InvocationError';
}

/** The limit of a synchronous invocation is 6,291,556 bytes, each way (Lambda quotas). */
export const mostPayloadBytes = 6_000_000;

export function createInvoke(client: LambdaClient, functionName: string): Invoke {
  return async (payload, signal) => {
    const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) });
    const output = await client.send(command, { abortSignal: signal }).catch(failed);
    if (output.FunctionError !== undefined)
      throw new InvocationError(`The function ${functionName} failed (${output.FunctionError})`);
    const answer: unknown = JSON.parse(output.Payload?.transformToString() ?? 'null');
    return answer;
  };
}
