import { GetRoleCommand, paginateSimulatePrincipalPolicy, type IAMClient } from '@aws-sdk/client-iam';
import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts';
import { isGlobalAction } from './deployment-actions.ts';

/** Decision of the policy simulation about an action. */
export type PolicyDecision = {
  action: string;
  decision: 'allowed' | 'explicitDeny' | 'implicitDeny';
  /** True if a service control policy of the organization forbids it. */
  byOrganization: boolean;
};

/** Role or user, and the decisions about its actions. */
export type SimulatedPolicies = { principal: string; decisions: PolicyDecision[] };

export type PolicyClients = { iam: IAMClient; sts: STSClient };

/** Region of a stack, and the qualifier of the roles that `cdk bootstrap` has made for it. */
export type BootstrappedRegion = { region: string; qualifier: string };

/** Simulates the policies of the role with which CloudFormation creates the resources. Throws the errors of AWS. */
export async function simulateDeployment(
  { iam, sts }: PolicyClients,
  { region, qualifier }: BootstrappedRegion,
  actions: readonly string[],
): Promise<SimulatedPolicies> {
  const { account } = await readIdentity(sts);
  const principal = `arn:aws:iam::${account}:role/cdk-${qualifier}-cfn-exec-role-${account}-${region}`;
  const regional = actions.filter((action) => !isGlobalAction(action));
  const decisions = [
    ...(await simulate(iam, { principal, actions: regional, region })),
    ...(await simulate(iam, { principal, actions: actions.filter(isGlobalAction), region: 'us-east-1' })),
  ];
  return { principal, decisions };
}

/**
 * Simulates if the operator may assume the roles of `cdk bootstrap`. Throws the errors of AWS, and an error for a root
 * user.
 */
export async function simulateAssumption(
  { iam, sts }: PolicyClients,
  { region, qualifier }: BootstrappedRegion,
): Promise<SimulatedPolicies> {
  const { account, arn } = await readIdentity(sts);
  const principal = await findPrincipal(iam, arn);
  const resources = ['deploy-role', 'file-publishing-role'].map(
    (role) => `arn:aws:iam::${account}:role/cdk-${qualifier}-${role}-${account}-${region}`,
  );
  return {
    principal,
    decisions: await simulate(iam, { principal, actions: ['sts:AssumeRole'], region, resources }),
  };
}

export async function readIdentity(sts: STSClient): Promise<{ account: string; arn: string }> {
  const { Account: account = '', Arn: arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
  return { account, arn };
}

/** Returns the ARN of the user, or of the role of the session: the ARN of a session lacks the path of its role. */
async function findPrincipal(iam: IAMClient, arn: string): Promise<string> {
  const [, roleName] = /:assumed-role\/([^/]+)\//.exec(arn) ?? [];
  if (roleName === undefined) {
    if (arn.endsWith(':root')) throw Object.assign(new Error('No simulation for root'), { name: 'RootUser' });
    return arn;
  }
  const { Role: role } = await iam.send(new GetRoleCommand({ RoleName: roleName }));
  return role?.Arn ?? arn;
}

type Simulation = { principal: string; actions: readonly string[]; region: string; resources?: string[] };

/**
 * Runs the simulation, which considers service control policies with their conditions on the region
 * (docs.aws.amazon.com/cli/latest/reference/iam/simulate-principal-policy.html).
 */
async function simulate(
  iam: IAMClient,
  { principal, actions, region, resources }: Simulation,
): Promise<PolicyDecision[]> {
  const context = {
    ContextKeyName: 'aws:RequestedRegion',
    ContextKeyType: 'string' as const,
    ContextKeyValues: [region],
  };
  const input = {
    PolicySourceArn: principal,
    ActionNames: [...actions],
    ContextEntries: [context],
    ...(resources && { ResourceArns: resources }),
  };
  const decisions: PolicyDecision[] = [];
  for await (const { EvaluationResults: results = [] } of paginateSimulatePrincipalPolicy(
    { client: iam },
    input,
  ))
    for (const result of results)
      decisions.push({
        action: result.EvalActionName ?? '',
        decision: result.EvalDecision ?? 'implicitDeny',
        byOrganization: result.OrganizationsDecisionDetail?.AllowedByOrganizations === false,
      });
  return decisions;
}
