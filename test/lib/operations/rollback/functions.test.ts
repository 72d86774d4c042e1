import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  GetAliasCommand,
  LambdaClient,
  ListVersionsByFunctionCommand,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { moveAlias, readDeployedStack } from '../../../../lib/operations/rollback/functions.ts';

const formation = mockClient(CloudFormationClient);
const lambda = mockClient(LambdaClient);
const clients = { cloudFormation: new CloudFormationClient({}), lambda: new LambdaClient({}) };
beforeEach(() => {
  formation.reset();
  lambda.reset();
});

const resource = (ResourceType: string, PhysicalResourceId: string) =>
  ({ ResourceType, PhysicalResourceId, LogicalResourceId: 'id', ResourceStatus: 'CREATE_COMPLETE' }) as any;
const aliasArn = 'arn:aws:lambda:eu-central-1:123456789012:function:Watchpost-prod-Api-X:live';

describe('readDeployedStack', () => {
  test('the functions of a stack are those with an alias, on every page of resources and versions', async () => {
    formation
      .on(ListStackResourcesCommand, { NextToken: undefined })
      .resolves({ StackResourceSummaries: [resource('AWS::Lambda::Function', 'Other')], NextToken: 'more' })
      .on(ListStackResourcesCommand, { NextToken: 'more' })
      .resolves({
        StackResourceSummaries: [
          resource('AWS::Lambda::Alias', aliasArn),
          resource('AWS::DynamoDB::Table', 'table-X'),
        ],
      });
    lambda.on(GetAliasCommand).resolves({ FunctionVersion: '12' });
    const version = (Version: string, release: string) => ({
      Version,
      Description: `Watchpost: api, release ${release}`,
    });
    lambda
      .on(ListVersionsByFunctionCommand, { Marker: undefined })
      .resolves({ Versions: [version('$LATEST', 'c-w'), version('9', 'b-w')], NextMarker: 'more' })
      .on(ListVersionsByFunctionCommand, { Marker: 'more' })
      .resolves({ Versions: [version('12', 'c-w'), { Version: '1', Description: 'by hand' }] });

    expect(await readDeployedStack('Watchpost-prod', clients)).toEqual({
      tableName: 'table-X',
      functions: [
        {
          name: 'Watchpost-prod-Api-X',
          live: 12,
          versions: [
            { version: 9, release: 'b-w' },
            { version: 12, release: 'c-w' },
          ],
        },
      ],
    });
  });

  test('a stack without aliases is an error with the next step', async () => {
    formation.on(ListStackResourcesCommand).resolves({ StackResourceSummaries: [] });
    await expect(readDeployedStack('Watchpost-prod', clients)).rejects.toThrow('Deploy it once');
  });
});

test('a rollback moves the alias live', async () => {
  lambda.on(UpdateAliasCommand).resolves({});
  await moveAlias({ name: 'api', from: 3, to: 2 }, clients);
  expect(lambda.commandCalls(UpdateAliasCommand)[0]?.args[0].input).toEqual({
    FunctionName: 'api',
    Name: 'live',
    FunctionVersion: '2',
  });
});
