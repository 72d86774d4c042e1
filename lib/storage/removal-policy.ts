import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * Returns the removal policy of stored data. With `keepData`, data outlive the stack, but not a failed first
 * deployment: its empty resources would block the next attempt.
 */
export function toRemovalPolicy(keepData: boolean): RemovalPolicy {
  return keepData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
