import { paginateListStackResources } from '@aws-sdk/client-cloudformation';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetAliasCommand, paginateListVersionsByFunction, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { liveAlias, readRelease } from './names.ts';
import type { AliasMove, VersionedFunction } from './plan.ts';

/** Clients with the credentials of the operator. */
export type RollbackClients = { cloudFormation: CloudFormationClient; lambda: LambdaClient };

/** Functions of a stack, and the table with the record of its releases. */
export type DeployedStack = { functions: VersionedFunction[]; tableName: string };

/** Reads the functions of a stack with their versions. Throws an error of AWS, or one for a stack without aliases. */
export async function readDeployedStack(
  stackName: string,
  { cloudFormation, lambda }: RollbackClients,
): Promise<DeployedStack> {
  const names: string[] = [];
  let tableName = '';
  for await (const page of paginateListStackResources({ client: cloudFormation }, { StackName: stackName }))
    for (const { ResourceType: type, PhysicalResourceId: id = '' } of page.StackResourceSummaries ?? []) {
      if (type === 'AWS::Lambda::Alias') names.push(readFunctionName(id));
      if (type === 'AWS::DynamoDB::Table') tableName = id;
    }
  if (names.length === 0)
    throw new Error(
      `The stack ${stackName} has no aliases. Deploy it once with this release or a newer one.`,
    );
  return { functions: await Promise.all(names.map((name) => readFunction(name, lambda))), tableName };
}

/** Moves the alias of one function. */
export async function moveAlias({ name, to }: AliasMove, { lambda }: RollbackClients): Promise<void> {
  await lambda.send(
    new UpdateAliasCommand({ FunctionName: name, Name: liveAlias, FunctionVersion: String(to) }),
  );
}

async function readFunction(name: string, lambda: LambdaClient): Promise<VersionedFunction> {
  const { FunctionVersion: live } = await lambda.send(
    new GetAliasCommand({ FunctionName: name, Name: liveAlias }),
  );
  const versions: { version: number; release: string }[] = [];
  for await (const page of paginateListVersionsByFunction({ client: lambda }, { FunctionName: name }))
    for (const { Version: version, Description: description } of page.Versions ?? []) {
      const release = readRelease(description);
      if (version !== '$LATEST' && release !== undefined)
        versions.push({ version: Number(version), release });
    }
  return {
    name,
    live: Number(live),
    versions: versions.toSorted((one, other) => one.version - other.version),
  };
}

/** Reads the name of the function from the ARN of its alias, `…:function:NAME:live`. */
function readFunctionName(aliasArn: string): string {
  const [, name] = /function:([^:]+):[^:]+$/.exec(aliasArn) ?? [];
  if (name === undefined) throw new Error(`Not the ARN of an alias: ${aliasArn}`);
  return name;
}
