import type { Construct } from 'constructs';
import { serviceName } from '../../function/service-name.ts';

/**
 * Returns the name prefix of the alarms of a deployment. It ends in a slash, so that it is no prefix of another one's
 * name.
 */
export function alarmPrefix(scope: Construct): string {
  return `${serviceName(scope)}/`;
}
