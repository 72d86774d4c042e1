import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * Returns the removal policy of stored data. Data of a stage that keeps it outlives the stack, but not a first deployment that fails: what that
 * leaves behind would be empty, and in the way of the next try.
 */
export function keptOrDestroyed(keepData: boolean): RemovalPolicy {
  return keepData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
