import type { Context } from 'aws-lambda';

/** Returns a Lambda context. */
export function lambdaContext(remainingMs = 60_000): Context {
  return {
    awsRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
    functionName: 'watchpost',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:watchpost',
    memoryLimitInMB: '512',
    logGroupName: '/watchpost',
    logStreamName: '2026/11/21/[$LATEST]1',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => remainingMs,
  } as Context;
}

/** Replaces the telemetry of a function. */
export const during = <Result>(_: Context, work: () => Promise<Result>): Promise<Result> => work();
