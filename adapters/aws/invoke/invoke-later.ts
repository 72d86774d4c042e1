import { throwCoreError } from '../aws-error.ts';
import type { AwsRequests } from '../requests/aws-requests.ts';
import { invocationPath } from './create-invoke.ts';

/** Invokes a function asynchronously: Lambda queues the event, and repeats it twice if it fails. Throws `TransientError`. */
export type InvokeLater = (functionArn: string, payload: object) => Promise<void>;

/** Creates an `InvokeLater`. */
export function createInvokeLater(requests: AwsRequests): InvokeLater {
  return async (functionArn, payload) => {
    await requests({
      service: 'lambda',
      method: 'POST',
      path: invocationPath(functionArn),
      headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
      body: JSON.stringify(payload),
    }).catch(throwCoreError);
  };
}
