import { DescribeStacksCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DisableRuleCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { PutFunctionConcurrencyCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { paginateListExecutions, StopExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';

export type TeardownClients = {
  cloudFormation: CloudFormationClient;
  events: EventBridgeClient;
  lambda: LambdaClient;
  states: SFNClient;
};

/**
 * Ends the runs of a stack before it is deleted: a state machine remains, and its name with it, until the last of its
 * executions has ended, which a watch does after up to two days
 * (https://docs.aws.amazon.com/step-functions/latest/apireference/API_DeleteStateMachine.html). Its rules are disabled
 * and its functions get no executions any more, so that nothing starts another run. Returns the number of stopped
 * executions. Throws for a stack that is protected from deletion.
 */
export async function endRuns(
  stack: string,
  { cloudFormation, events, lambda, states }: TeardownClients,
): Promise<number> {
  const { Stacks: [description] = [] } = await cloudFormation.send(
    new DescribeStacksCommand({ StackName: stack }),
  );
  if (description?.EnableTerminationProtection)
    throw new Error(`${stack} is protected: first deploy the stage with "deletionProtection": false.`);
  const resources = await listResources(stack, cloudFormation);
  for (const Name of resources.get('AWS::Events::Rule') ?? [])
    await events.send(new DisableRuleCommand({ Name }));
  // Functions of the CDK, which empty buckets at the deletion, have no alias.
  for (const alias of resources.get('AWS::Lambda::Alias') ?? []) {
    const [FunctionName] = /[^:]+(?=:[^:]+$)/.exec(alias) ?? [];
    await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }));
  }
  let stopped = 0;
  for (const stateMachineArn of resources.get('AWS::StepFunctions::StateMachine') ?? []) {
    // Executions of an Express workflow end within five minutes, and are not listed.
    if (stateMachineArn.endsWith('-burst')) continue;
    const running = { stateMachineArn, statusFilter: 'RUNNING' } as const;
    for await (const { executions = [] } of paginateListExecutions({ client: states }, running))
      for (const { executionArn } of executions) {
        await states.send(new StopExecutionCommand({ executionArn, cause: 'The stage is removed' }));
        stopped += 1;
      }
  }
  return stopped;
}

/** Returns the physical ids of the resources of a stack by their type. */
async function listResources(stack: string, client: CloudFormationClient): Promise<Map<string, string[]>> {
  const resources = new Map<string, string[]>();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources(
    { client },
    { StackName: stack },
  ))
    for (const { ResourceType: type = '', PhysicalResourceId: id = '' } of StackResourceSummaries)
      resources.set(type, [...(resources.get(type) ?? []), id]);
  return resources;
}
