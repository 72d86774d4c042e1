import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** What the names of a stack's alarms begin with. No stage has a slash in its name, so it is no other stack's beginning. */
export function alarmPrefix(scope: Construct): string {
  return `${Stack.of(scope).stackName}/`;
}
