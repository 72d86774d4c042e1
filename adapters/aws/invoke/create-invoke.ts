import { throwCoreError } from '../aws-error.ts';
import type { AwsRequests } from '../requests/aws-requests.ts';
import { InvocationError } from './invoke.ts';
import type { Invoke } from './invoke.ts';

/** Returns the path that invokes a function, by its name or ARN. */
export function invocationPath(functionName: string): string {
  return `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`;
}

/** Creates an `Invoke` for one function, by its name or ARN. */
export function createInvoke(requests: AwsRequests, functionName: string): Invoke {
  return async (payload, signal) => {
    const { headers, body } = await requests({
      service: 'lambda',
      method: 'POST',
      path: invocationPath(functionName),
      headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'RequestResponse' },
      body: JSON.stringify(payload),
      signal,
      // The caller's signal limits the time of the function.
      timeoutMs: 0,
    }).catch(throwCoreError);
    const failure = headers['x-amz-function-error'];
    if (failure !== undefined) throw new InvocationError(`The function ${functionName} failed (${failure})`);
    const text = Buffer.from(body).toString();
    const answer: unknown = text === '' ? null : JSON.parse(text);
    return answer;
  };
}
