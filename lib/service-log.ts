import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { StageSettings } from './stage/stage-settings.ts';

type Props = Pick<StageSettings, 'logDays' | 'keepData'>;

/** Where everything is logged, each group with an end: what the functions say, what the workflow did, who asked the API. */
export class ServiceLog extends Construct {
  /** One group of all functions, so that `/logs` is one query. */
  readonly functions: LogGroup;
  readonly workflow: LogGroup;
  readonly access: LogGroup;

  constructor(scope: Construct, id: string, { logDays, keepData }: Props) {
    super(scope, id);
    const shared = {
      retention: logDays,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    };
    this.functions = new LogGroup(this, 'Functions', shared);
    this.workflow = new LogGroup(this, 'Workflow', { ...shared, logGroupName: vended('workflow') });
    this.access = new LogGroup(this, 'Access', { ...shared, logGroupName: vended('access') });
  }
}

/**
 * Services that deliver logs by themselves share one resource policy of 5120 characters; groups below this prefix are not listed in it. The part of the
 * stack's id that is never given twice keeps the name free: a group that an earlier stack of this name left behind would be in the way.
 */
function vended(name: string): string {
  const unique = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `/aws/vendedlogs/${Aws.STACK_NAME}-${unique}/${name}`;
}
