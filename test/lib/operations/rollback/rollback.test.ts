import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  GetAliasCommand,
  LambdaClient,
  ListVersionsByFunctionCommand,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { describeFunction, readRelease } from '../../../../lib/function/service-function.ts';
import { rollBack, type RollbackOptions } from '../../../../lib/operations/rollback/rollback.ts';

const formation = mockClient(CloudFormationClient);
const lambda = mockClient(LambdaClient);
const clients = { cloudFormation: new CloudFormationClient({}), lambda: new LambdaClient({}) };
beforeEach(() => {
  formation.reset();
  lambda.reset();
});

/** A function whose alias names version `live`, and whose versions, from 1 on, have these releases. */
type Deployed = [name: string, live: number, ...releases: string[]];

/** Rolls back a stack with these functions. Returns the moves, and what was said. */
async function run(functions: Deployed[], options: Partial<RollbackOptions> = {}) {
  const resource = (ResourceType: string, PhysicalResourceId: string) => ({
    ResourceType,
    PhysicalResourceId,
  });
  const aliases = functions.map(([name]) =>
    resource('AWS::Lambda::Alias', `arn:aws:lambda:eu-central-1:1:function:${name}:live`),
  );
  formation
    .on(ListStackResourcesCommand, { NextToken: undefined })
    .resolves({
      StackResourceSummaries: [resource('AWS::Lambda::Function', 'Other')] as any,
      NextToken: 'more',
    })
    .on(ListStackResourcesCommand, { NextToken: 'more' })
    .resolves({ StackResourceSummaries: aliases as any });
  for (const [FunctionName, live, ...releases] of functions) {
    lambda.on(GetAliasCommand, { FunctionName, Name: 'live' }).resolves({ FunctionVersion: String(live) });
    const versions = releases.map((release, index) => ({
      Version: String(index + 1),
      Description: describeFunction('api', release),
    }));
    lambda
      .on(ListVersionsByFunctionCommand, { FunctionName, Marker: undefined })
      .resolves({
        Versions: [{ Version: '$LATEST', Description: 'Watchpost: api, release z-w' }],
        NextMarker: 'more',
      })
      .on(ListVersionsByFunctionCommand, { FunctionName, Marker: 'more' })
      .resolves({ Versions: [...versions, { Version: '99', Description: 'by hand' }] });
  }
  lambda.on(UpdateAliasCommand).resolves({});
  const said: string[] = [];
  await rollBack({ stack: 'Watchpost-prod', dryRun: false, ...options }, clients, (line) => said.push(line));
  const moves = lambda.commandCalls(UpdateAliasCommand).map(({ args: [{ input }] }) => {
    expect(input.Name).toBe('live');
    return [input.FunctionName, Number(input.FunctionVersion)];
  });
  return { moves, said };
}

const three = ['a-w', 'b-w', 'c-w'];

test.each<[string, Deployed[], string | undefined, [string, number][]]>([
  [
    'all functions return to the release before',
    [
      ['api', 3, ...three],
      ['stream', 3, ...three],
    ],
    undefined,
    [
      ['api', 2],
      ['stream', 2],
    ],
  ],
  [
    'a second rollback goes one release further',
    [
      ['api', 2, ...three],
      ['stream', 2, ...three],
    ],
    undefined,
    [
      ['api', 1],
      ['stream', 1],
    ],
  ],
  [
    'an interrupted rollback is completed',
    [
      ['api', 2, ...three],
      ['stream', 3, ...three],
    ],
    undefined,
    [['stream', 2]],
  ],
  [
    'no function moves forward',
    [
      ['api', 1, ...three],
      ['stream', 3, ...three],
    ],
    undefined,
    [['stream', 1]],
  ],
  [
    'a function returns to the later of two versions of a release',
    [
      ['api', 3, 'a-w', 'a-w', 'b-w'],
      ['stream', 2, 'a-w', 'b-w'],
    ],
    undefined,
    [
      ['api', 2],
      ['stream', 1],
    ],
  ],
  [
    'a release that a function lacks is passed over',
    [
      ['api', 3, ...three],
      ['stream', 2, 'a-w', 'c-w'],
    ],
    undefined,
    [
      ['api', 1],
      ['stream', 1],
    ],
  ],
  ['a named release can be newer than the running one', [['api', 1, ...three]], 'c-w', [['api', 3]]],
  ['a named release that runs needs no move', [['api', 3, ...three]], 'c-w', []],
])('a rollback moves the aliases of a stack: %s', async (_, functions, to, moves) => {
  expect((await run(functions, { to })).moves).toEqual(moves);
});

test('a dry run says what a rollback would move, and moves nothing', async () => {
  expect(await run([['api', 3, ...three]], { dryRun: true })).toEqual({
    moves: [],
    said: ['Releases, newest first: c-w, b-w, a-w', 'Would return to release b-w', 'api: version 3 → 2'],
  });
});

test.each<[string, Deployed[], string | undefined, string]>([
  ['the first deployment', [['api', 1, 'a-w']], undefined, 'No earlier release'],
  [
    'a release that a function lacks',
    [
      ['api', 3, ...three],
      ['stream', 2, 'a-w', 'c-w'],
    ],
    'b-w',
    'No b-w',
  ],
  ['an unknown release', [['api', 1, 'a-w']], 'z-w', 'No z-w'],
  [
    'other workflow definitions',
    [['api', 2, 'a-v', 'b-w']],
    undefined,
    'other workflow definitions or stored records',
  ],
  [
    'other workflow definitions, behind an older version of a release',
    [
      ['api', 2, 'a-w', 'b-v', 'b-v'],
      ['stream', 2, 'a-w', 'b-w'],
    ],
    'a-w',
    'other workflow definitions or stored records',
  ],
  [
    'a version of an unknown release',
    [['api', 99, ...three]],
    'b-w',
    'api runs version 99 of an unknown release',
  ],
  ['a stack without aliases', [], undefined, 'No earlier release'],
])('a rollback is refused with the next step: %s', async (_, functions, to, reason) => {
  await expect(run(functions, { to })).rejects.toThrow(reason);
  await expect(run(functions, { to })).rejects.toThrow(/Deploy the .*\.$/);
  expect(lambda.commandCalls(UpdateAliasCommand)).toEqual([]);
});

test('the release of a version is read from its description', () => {
  expect(readRelease(describeFunction('api', '0a1b2c3d4e-5f6a7b8c9d'))).toBe('0a1b2c3d4e-5f6a7b8c9d');
  expect(readRelease('Watchpost: api')).toBeUndefined();
  expect(readRelease(undefined)).toBeUndefined();
});
