import {
  CloudFormationClient,
  DescribeStacksCommand,
  ListStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { DisableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient, PutFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { ListExecutionsCommand, SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { endRuns } from '../../../../lib/operations/teardown/end-runs.ts';

const cloudFormation = mockClient(CloudFormationClient);
const events = mockClient(EventBridgeClient);
const lambda = mockClient(LambdaClient);
const states = mockClient(SFNClient);
const clients = {
  cloudFormation: new CloudFormationClient({}),
  events: new EventBridgeClient({}),
  lambda: new LambdaClient({}),
  states: new SFNClient({}),
};
const machine = (name: string) => `arn:aws:states:eu-central-1:1:stateMachine:Watchpost-dev-${name}`;
const execution = (name: string) => `arn:aws:states:eu-central-1:1:execution:Watchpost-dev-jobs:${name}`;

beforeEach(() => {
  for (const mock of [cloudFormation, events, lambda, states]) mock.reset();
  cloudFormation
    .on(DescribeStacksCommand)
    .resolves({ Stacks: [{ EnableTerminationProtection: false } as never] });
  const resource = (ResourceType: string, PhysicalResourceId: string) => ({
    ResourceType,
    PhysicalResourceId,
  });
  const resources = [
    resource('AWS::Events::Rule', 'Watchpost-dev-EachMinute'),
    resource('AWS::Lambda::Function', 'Watchpost-dev-Api'),
    resource('AWS::Lambda::Function', 'Watchpost-dev-AutoDelete'),
    resource('AWS::Lambda::Alias', 'arn:aws:lambda:eu-central-1:1:function:Watchpost-dev-Api:live'),
    ...['jobs', 'watch', 'burst'].map((name) => resource('AWS::StepFunctions::StateMachine', machine(name))),
  ];
  cloudFormation.on(ListStackResourcesCommand).resolves({ StackResourceSummaries: resources as never });
  states.on(ListExecutionsCommand).resolves({ executions: [] });
  states
    .on(ListExecutionsCommand, { stateMachineArn: machine('jobs') })
    .resolvesOnce({ executions: [{ executionArn: execution('a') } as never], nextToken: 'more' })
    .resolves({ executions: [{ executionArn: execution('b') } as never] });
});

test('a teardown stops the rules and functions of the service, then every running execution of both kinds', async () => {
  expect(await endRuns('Watchpost-dev', clients)).toBe(2);
  const disabled = events.commandCalls(DisableRuleCommand).map(({ args: [{ input }] }) => input);
  expect(disabled).toEqual([{ Name: 'Watchpost-dev-EachMinute' }]);
  const stopped = lambda.commandCalls(PutFunctionConcurrencyCommand).map(({ args: [{ input }] }) => input);
  expect(stopped).toEqual([{ FunctionName: 'Watchpost-dev-Api', ReservedConcurrentExecutions: 0 }]);
  const listed = states.commandCalls(ListExecutionsCommand).map(({ args: [{ input }] }) => input);
  expect(listed.map(({ stateMachineArn }) => stateMachineArn)).toEqual(
    ['jobs', 'jobs', 'watch'].map((name) => machine(name)),
  );
  expect(listed.every(({ statusFilter }) => statusFilter === 'RUNNING')).toBe(true);
  const ended = states.commandCalls(StopExecutionCommand).map(({ args: [{ input }] }) => input.executionArn);
  expect(ended).toEqual([execution('a'), execution('b')]);
});

test('a stack that is protected from deletion continues', async () => {
  cloudFormation
    .on(DescribeStacksCommand)
    .resolves({ Stacks: [{ EnableTerminationProtection: true } as never] });
  await expect(endRuns('Watchpost-dev', clients)).rejects.toThrow('deletionProtection');
  expect(events.commandCalls(DisableRuleCommand)).toEqual([]);
  expect(lambda.commandCalls(PutFunctionConcurrencyCommand)).toEqual([]);
  expect(states.commandCalls(StopExecutionCommand)).toEqual([]);
});
