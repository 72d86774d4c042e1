import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import {
  createHelperStack,
  findAbandoned,
  readOutputs,
  removeHelperStack,
} from '../../../../lib/operations/smoke/helper-stack.ts';

const region = { region: 'eu-central-1' };
const CreationTime = new Date('2026-11-22T10:00:00Z');
const never = new AbortController().signal;

function aws() {
  const cloudFormation = mockClient(CloudFormationClient);
  const states = mockClient(SFNClient);
  const deps = {
    cloudFormation: new CloudFormationClient(region),
    states: new SFNClient(region),
    sqs: new SQSClient(region),
    pollMs: 0,
  };
  return { cloudFormation, states, deps };
}
const stack = (StackStatus: any, more: object = {}) => ({
  Stacks: [{ StackName: 'Watchpost-prod', CreationTime, StackStatus, ...more }],
});

test('outputs are those of a deployed stack, and a failed deployment is an error', async () => {
  const { cloudFormation, deps } = aws();
  const Outputs = [{ OutputKey: 'BaseUrl', OutputValue: 'https://host/api' }];
  cloudFormation.on(DescribeStacksCommand).resolvesOnce(stack('UPDATE_COMPLETE', { Outputs }));
  expect(await readOutputs('Watchpost-prod', deps)).toEqual({ BaseUrl: 'https://host/api' });
  cloudFormation.on(DescribeStacksCommand).resolves(stack('ROLLBACK_COMPLETE'));
  await expect(readOutputs('Watchpost-prod', deps)).rejects.toThrow('has the status ROLLBACK_COMPLETE');
});

test('a stack that is not created names the first resource that failed and its reason', async () => {
  const { cloudFormation, deps } = aws();
  cloudFormation.on(CreateStackCommand).resolves({ StackId: 'id' });
  cloudFormation
    .on(DescribeStacksCommand)
    .resolvesOnce(stack('CREATE_IN_PROGRESS'))
    .resolves(stack('CREATE_FAILED'));
  cloudFormation.on(DescribeStackEventsCommand).resolves({
    StackEvents: [
      { LogicalResourceId: 'Api', ResourceStatus: 'CREATE_FAILED', ResourceStatusReason: 'cancelled' },
      {
        LogicalResourceId: 'HoldRole',
        ResourceStatus: 'CREATE_FAILED',
        ResourceStatusReason: 'not authorized',
      },
    ] as any,
  });
  const wanted = { name: 'Watchpost-prod-smoke-1', tested: 'Watchpost-prod' };
  await expect(createHelperStack(wanted, deps, never)).rejects.toThrow('HoldRole: not authorized');
  expect(cloudFormation.commandCalls(CreateStackCommand)[0]!.args[0].input).toMatchObject({
    Capabilities: ['CAPABILITY_IAM'],
    Tags: [{ Key: 'watchpost:smoke-test', Value: 'Watchpost-prod' }],
  });
});

test('a removal ends when the stack does not exist any more, and fails if it cannot be deleted', async () => {
  const { cloudFormation, deps } = aws();
  cloudFormation.on(DeleteStackCommand).resolves({});
  cloudFormation
    .on(DescribeStacksCommand)
    .resolvesOnce(stack('DELETE_IN_PROGRESS'))
    .rejects(new Error('Stack with id x does not exist'));
  await removeHelperStack('x', deps);
  cloudFormation.on(DescribeStacksCommand).resolves(stack('DELETE_FAILED'));
  cloudFormation.on(DescribeStackEventsCommand).resolves({ StackEvents: [] });
  await expect(removeHelperStack('x', deps)).rejects.toThrow('x: stack');
});

test('helper stacks of this deployment that are an hour old are abandoned, on every page', async () => {
  const { cloudFormation, deps } = aws();
  const tagged = (name: string, of: string, created = CreationTime) => ({
    StackName: name,
    CreationTime: created,
    StackStatus: 'CREATE_COMPLETE' as const,
    Tags: [{ Key: 'watchpost:smoke-test', Value: of }],
  });
  const young = new Date('2026-11-22T11:30:00Z');
  cloudFormation
    .on(DescribeStacksCommand)
    .resolvesOnce({ Stacks: [tagged('a', 'Watchpost-prod'), tagged('b', 'Watchpost-dev')], NextToken: '2' })
    .resolves({ Stacks: [tagged('c', 'Watchpost-prod', young), tagged('d', 'Watchpost-prod')] });
  const now = new Date('2026-11-22T12:00:00Z');
  expect(await findAbandoned('Watchpost-prod', deps, now)).toEqual(['a', 'd']);
});

test.for<[object, number | RegExp]>([
  [{ status: 'SUCCEEDED', output: '{"Status":"SUCCEEDED"}' }, 290.2],
  [{ status: 'SUCCEEDED', output: '{"Status":"TIMED_OUT"}' }, /ended after 290.2 s \(TIMED_OUT\)/],
  [{ status: 'FAILED', error: 'States.Timeout' }, /ended after 290.2 s \(States.Timeout\).*burstSeconds/],
])('a held execution that ends as %j is %s', async ([ended, expected]) => {
  const { cloudFormation, states, deps } = aws();
  cloudFormation.on(CreateStackCommand).resolves({});
  cloudFormation
    .on(DescribeStacksCommand)
    .resolves(
      stack('CREATE_COMPLETE', { Outputs: [{ OutputKey: 'HoldMachine', OutputValue: 'arn:machine' }] }),
    );
  states.on(StartExecutionCommand).resolves({ executionArn: 'arn:run', startDate: CreationTime });
  states
    .on(DescribeExecutionCommand)
    .resolvesOnce({ status: 'RUNNING' })
    .resolves({ startDate: CreationTime, stopDate: new Date(CreationTime.getTime() + 290_200), ...ended });
  const serving = (await import('node:http')).createServer((_, response) => response.end('#EXTM3U'));
  await new Promise<void>((resolve) => serving.listen(0, '127.0.0.1', resolve));
  const urlTemplate = `http://127.0.0.1:${(serving.address() as { port: number }).port}/{id}`;
  try {
    const helper = await createHelperStack({ name: 'n', tested: 't', urlTemplate }, deps, never);
    if (typeof expected === 'number') expect(await helper.hold(290, never)).toBe(expected);
    else await expect(helper.hold(290, never)).rejects.toThrow(expected);
  } finally {
    serving.close();
    serving.closeAllConnections();
  }
});
