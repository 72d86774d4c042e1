import { paginateListStackResources, type CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetAliasCommand, paginateListVersionsByFunction, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { liveAlias, readRelease } from '../../function/service-function.ts';

/** Clients with the credentials of the operator. */
export type RollbackClients = { cloudFormation: CloudFormationClient; lambda: LambdaClient };

/**
 * Function of a stack: the version that its alias names, with its release, and the newest version of each release,
 * newest first.
 */
type VersionedFunction = {
  name: string;
  live: number;
  running: string | undefined;
  versions: ReadonlyMap<string, number>;
};

export type RollbackOptions = { stack: string; to?: string | undefined; dryRun: boolean };

/**
 * Moves the aliases of all functions of a stack to a release: to `to`, or to the newest one that none of them is
 * behind, so that an interrupted rollback is completed. Throws without such a release, if a function runs an unknown
 * one, or if it has other workflow definitions or records: the state machines have no versions that a command could
 * move, and the table no migration.
 */
export async function rollBack(
  { stack, to, dryRun }: RollbackOptions,
  { cloudFormation, lambda }: RollbackClients,
  say: (line: string) => void,
): Promise<void> {
  const names = await listFunctions(stack, cloudFormation);
  const functions = await Promise.all(names.map((name) => readFunction(name, lambda)));
  const releases = listReleases(functions);
  say(`Releases, newest first: ${releases.join(', ') || 'none'}`);
  const release = to ?? releases.find((each) => isEarlier(functions, each));
  if (release === undefined || !releases.includes(release))
    throw new Error(`No ${to ?? 'earlier release'} of all functions. Deploy the last good commit.`);
  for (const { name, live, running } of functions)
    if (running === undefined)
      throw new Error(`${name} runs version ${live} of an unknown release. Deploy the last good commit.`);
  if (functions.some(({ running = '' }) => readWorkflow(running) !== readWorkflow(release)))
    throw new Error(
      `Release ${release} has other workflow definitions or stored records. Deploy the commit of that release.`,
    );
  say(`${dryRun ? 'Would return' : 'Returning'} to release ${release}`);
  for (const { name, live, versions } of functions) {
    const version = versions.get(release) ?? live;
    if (version === live) continue;
    const target = { FunctionName: name, Name: liveAlias, FunctionVersion: String(version) };
    if (!dryRun) await lambda.send(new UpdateAliasCommand(target));
    say(`${name}: version ${live} → ${version}`);
  }
}

/** Returns the releases that every function has, newest first. */
function listReleases([first, ...others]: readonly VersionedFunction[]): string[] {
  return [...(first?.versions.keys() ?? [])].filter((release) =>
    others.every(({ versions }) => versions.has(release)),
  );
}

/** Returns true if no function has to move forward to the release, and one has to move back. */
function isEarlier(functions: readonly VersionedFunction[], release: string): boolean {
  const distances = functions.map(({ live, versions }) => live - (versions.get(release) ?? Infinity));
  return distances.every((distance) => distance >= 0) && distances.some((distance) => distance > 0);
}

/** Returns the part of a release that identifies its workflow definitions and records. */
function readWorkflow(release: string): string {
  return release.split('-')[1] ?? '';
}

/** Lists the functions with an alias, whose ARN is `…:function:NAME:live`. */
async function listFunctions(StackName: string, client: CloudFormationClient): Promise<string[]> {
  const names: string[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName }))
    for (const { ResourceType: type, PhysicalResourceId: id = '' } of page.StackResourceSummaries ?? [])
      if (type === 'AWS::Lambda::Alias') names.push(/function:([^:]+):[^:]+$/.exec(id)?.[1] ?? id);
  return names;
}

async function readFunction(name: string, client: LambdaClient): Promise<VersionedFunction> {
  const alias = await client.send(new GetAliasCommand({ FunctionName: name, Name: liveAlias }));
  const functions: [string, number][] = [];
  for await (const page of paginateListVersionsByFunction({ client }, { FunctionName: name }))
    for (const { Version: version, Description: description } of page.Versions ?? []) {
      const release = readRelease(description);
      if (version !== '$LATEST' && release !== undefined) functions.push([release, Number(version)]);
    }
  const ascending = functions.toSorted(([, one], [, other]) => one - other);
  const newest = [...new Map(ascending)].toSorted(([, one], [, other]) => other - one);
  const live = Number(alias.FunctionVersion);
  const [running] = functions.find(([, version]) => version === live) ?? [];
  return { name, live, running, versions: new Map(newest) };
}
