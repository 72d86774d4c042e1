import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { throwCoreError } from '../aws-error.ts';
import { clientSettings } from '../client-settings.ts';
import { InvocationError, type Invoke, type InvokeLater } from './invoke.ts';

/** Settings of a client that waits for a function: the caller's signal limits the time. */
export const invocationSettings = {
  requestHandler: { ...clientSettings.requestHandler, requestTimeout: 0 },
};

export function createInvoke(functionName: string, client = new LambdaClient(invocationSettings)): Invoke {
  return async (payload, signal) => {
    const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) });
    const { FunctionError: failure, Payload } = await client
      .send(command, { abortSignal: signal })
      .catch(throwCoreError);
    if (failure !== undefined) throw new InvocationError(`The function ${functionName} failed (${failure})`);
    const answer: unknown = JSON.parse(Payload?.transformToString() || 'null');
    return answer;
  };
}

export function createInvokeLater(client = new LambdaClient(clientSettings)): InvokeLater {
  return async (functionArn, payload) => {
    const command = new InvokeCommand({
      FunctionName: functionArn,
      InvocationType: 'Event',
      Payload: JSON.stringify(payload),
    });
    await client.send(command).catch(throwCoreError);
  };
}
