import { Stack, Validations } from 'aws-cdk-lib';
import { flattenCfnReference } from 'cdk-nag/lib/utils/flatten-cfn-reference.js';
import type { Construct } from 'constructs';

/** Acknowledges the cdk-nag finding of each resource that contains `*`. Throws if such a resource has no reason. */
export function suppressWildcardFindings(
  on: Construct,
  resources: string[],
  reason: string | undefined,
): void {
  for (const resource of resources) {
    const name = flattenCfnReference(Stack.of(on).resolve(resource));
    if (!name.includes('*')) continue;
    if (reason === undefined) throw new Error(`A wildcard needs a reason: ${name}`);
    Validations.of(on).acknowledge({ id: `AwsSolutions-IAM5[Resource::${name}]`, reason });
  }
}
