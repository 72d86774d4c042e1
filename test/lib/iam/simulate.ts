import { runSimulation } from '@cloud-copilot/iam-simulate';
import { readStatements, resolveAll, resolveValue, withoutHash, type Statement } from '../roles.ts';
import type { Resource } from '../synthesize.ts';

/** Request of a function, with the logical ids of the template as names of resources. */
export type RoleRequest = {
  /** Logical id of the role, without its hash. */
  role: string;
  action: string;
  resource: string;
  context: Record<string, string[]>;
};

/** Permission of one action on one resource. */
export type Grant = { role: string; action: string; resource: string; statement: Statement };

const account = '000000000000';

/** Returns the permissions of all roles of a template, one for each action and resource. */
export function listGrants(resources: Record<string, Resource>): Grant[] {
  return Object.entries(resources)
    .filter(([, { Type }]) => Type === 'AWS::IAM::Role')
    .flatMap(([id]) =>
      readStatements(id, resources).flatMap((statement) =>
        [statement.Action].flat().flatMap((action) =>
          [statement.Resource].flat().map((resource) => ({
            role: withoutHash(id),
            action,
            resource: resolveValue(resource, resources),
            statement: resolveAll(statement, resources),
          })),
        ),
      ),
    );
}

/** Returns true if IAM permits a request by one of the grants. Throws for a request that IAM does not know. */
export async function isPermitted(
  { role, action, resource, context }: RoleRequest,
  grants: readonly Grant[],
  /** Policy of the resource, if it has one. */
  resourcePolicy?: object,
): Promise<boolean> {
  const own = grants.filter((grant) => grant.role === role);
  const result = await runSimulation(
    {
      request: {
        principal: `arn:aws:iam::${account}:role/${role}`,
        action,
        resource: { resource, accountId: account },
        // A key with several values is given as a list, even of one.
        contextVariables: context,
      },
      identityPolicies: own.map((grant, index) => ({ name: String(index), policy: toPolicy(grant) })),
      ...(resourcePolicy && { resourcePolicy }),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  if (result.resultType === 'error')
    throw new Error(`${action} on ${resource}: ${JSON.stringify(result.errors)}`);
  return result.overallResult === 'Allowed';
}

/** Returns true if the policy of a key lets a service use it. */
export async function mayUse(principal: string, action: string, resourcePolicy: object): Promise<boolean> {
  const resource = `arn:aws:kms:us-east-1:${account}:key/11111111-2222-3333-4444-555555555555`;
  const result = await runSimulation(
    {
      request: { principal, action, resource: { resource, accountId: account }, contextVariables: {} },
      identityPolicies: [],
      resourcePolicy,
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  if (result.resultType === 'error') throw new Error(JSON.stringify(result.errors));
  return result.overallResult === 'Allowed';
}

function toPolicy({ action, resource, statement: { Effect, Condition } }: Grant) {
  return {
    Version: '2012-10-17',
    Statement: [
      { Effect, Action: action, Resource: resource, ...(Condition !== undefined && { Condition }) },
    ],
  };
}
