import { Aws, Fn } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { isWholeStack, serviceName } from './service-name.ts';
import { serviceKey } from '../storage/service-key.ts';
import { toRemovalPolicy } from '../storage/private-bucket.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

type Props = Pick<StageSettings, 'logDays' | 'keepData'>;

/** Log groups of functions, workflow and API access; entries expire after `logDays`. */
export class ServiceLog extends Construct {
  /** Log group of all functions, so that `/logs` is one query. */
  readonly functions: LogGroup;
  readonly workflow: LogGroup;
  readonly access: LogGroup;

  constructor(scope: Construct, id: string, { logDays, keepData }: Props) {
    super(scope, id);
    const key = serviceKey(this);
    const shared = {
      ...(key && { encryptionKey: key }),
      retention: logDays,
      removalPolicy: toRemovalPolicy(keepData),
    };
    this.functions = new LogGroup(this, 'Functions', shared);
    this.workflow = new LogGroup(this, 'Workflow', { ...shared, logGroupName: vended(this, 'workflow') });
    this.access = new LogGroup(this, 'Access', { ...shared, logGroupName: vended(this, 'access') });
  }
}

/**
 * Returns a log group name below `/aws/vendedlogs/`: groups there do not use the shared resource policy, which has at
 * most 5,120 characters. The unique part of the stack id avoids a conflict with groups that an earlier stack retained.
 */
function vended(scope: Construct, name: string): string {
  const unique = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  const service = isWholeStack(scope) ? Aws.STACK_NAME : serviceName(scope);
  return `/aws/vendedlogs/${service}-${unique}/${name}`;
}
