import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** Returns the name prefix of a stack's alarms. It ends in a slash, so that it is no prefix of another stack's name. */
export function alarmPrefix(scope: Construct): string {
  return `${Stack.of(scope).stackName}/`;
}
