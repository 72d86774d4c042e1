import { Stack, Tags } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { StageSettings } from '../stages/stage-settings.ts';

type Settings = Pick<StageSettings, 'tags' | 'permissionsBoundaryArn'>;

/**
 * Applies tags and the boundary of roles to a deployment, and to the functions that the CDK adds to its stack, which
 * copy the console and empty buckets.
 */
export function applyToAll(service: Construct, { tags, permissionsBoundaryArn }: Settings): void {
  const ofCdk = Stack.of(service).node.children.filter(({ node }) => node.id.startsWith('Custom::'));
  const boundary =
    permissionsBoundaryArn === undefined
      ? undefined
      : ManagedPolicy.fromManagedPolicyArn(service, 'Boundary', permissionsBoundaryArn);
  for (const scope of [service, ...ofCdk]) {
    for (const [name, value] of Object.entries(tags)) Tags.of(scope).add(name, value);
    if (boundary) PermissionsBoundary.of(scope).apply(boundary);
  }
}
