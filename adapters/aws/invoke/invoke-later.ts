import { loadOnce } from '../../load-once.ts';
import { throwCoreError } from '../aws-error.ts';

/** Invokes a function asynchronously: Lambda queues the event, and repeats it twice if it fails. Throws `TransientError`. */
export type InvokeLater = (functionArn: string, payload: object) => Promise<void>;

/**
 * Creates an `InvokeLater`; loads the Lambda client at the first call. It is not in `deferred.ts`, because the bundler then loads the other
 * clients of that file as a whole.
 */
export function deferInvokeLater(): InvokeLater {
  const load = loadOnce(async () => {
    const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
    return { client: new LambdaClient({}), InvokeCommand };
  });
  return async (functionArn, payload) => {
    const { client, InvokeCommand } = await load();
    const command = new InvokeCommand({
      FunctionName: functionArn,
      InvocationType: 'Event',
      Payload: JSON.stringify(payload),
    });
    await client.send(command).catch(throwCoreError);
  };
}
