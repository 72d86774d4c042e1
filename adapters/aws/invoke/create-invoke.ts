import { InvokeCommand } from '@aws-sdk/client-lambda';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { throwCoreError } from '../aws-error.ts';
import { InvocationError } from './invoke.ts';
import type { Invoke } from './invoke.ts';

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
