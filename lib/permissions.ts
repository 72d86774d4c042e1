import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { keyPrefixes } from '../adapters/aws/dynamodb/table-layout.ts';
import type { Index } from '../adapters/aws/dynamodb/table-layout.ts';
import { MediaBucket } from './media-bucket.ts';
import type { ServiceFunction } from './service-function.ts';

/**
 * What functions are allowed, in the service's own words. Exact actions on exact resources; `test/lib/roles.snapshot.md` shows what
 * comes of it.
 */

type TableUse = {
  /** API keys are for those who answer callers. */
  apiKeys: boolean;
  index?: Index;
};

/** Reading and writing items; nothing scans. */
export function allowTable(to: ServiceFunction, { tableArn }: Table, { apiKeys, index }: TableUse): void {
  const closed: string[] = [keyPrefixes.key, keyPrefixes.keys];
  const open = Object.values(keyPrefixes).filter((prefix) => !closed.includes(prefix));
  to.allow(
    [
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
    [tableArn],
    apiKeys ? {} : { conditions: leadingKeys(open.map((prefix) => `${prefix}*`)) },
  );
  if (index) to.allow(['dynamodb:Query'], [`${tableArn}/index/${index.name}`]);
}

/** Items whose partition keys begin so, one at a time, and nothing else of the table. */
export function allowReadingItems(to: ServiceFunction, { tableArn }: Table, keyPrefix: string): void {
  to.allow(['dynamodb:GetItem'], [tableArn], {
    conditions: leadingKeys([`${keyPrefix}*`]),
  });
}

/** Without keys in a request the first condition would hold, for all values of none. */
function leadingKeys(patterns: string[]) {
  return {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  };
}

export function allowPictures(
  to: ServiceFunction,
  bucket: Bucket,
  actions: ('s3:GetObject' | 's3:PutObject' | 's3:DeleteObject')[],
): void {
  to.allow(actions, [bucket.arnForObjects(`${MediaBucket.prefix}*`)], {
    wildcardSince: 'Pictures have random names below the one prefix of the bucket.',
  });
  // S3 says that a picture is gone only to those who may list; to others it says that they may not.
  if (actions.includes('s3:GetObject')) to.allow(['s3:ListBucket'], [bucket.bucketArn]);
}

export function allowSending(to: ServiceFunction, { queueArn }: Queue): void {
  to.allow(['sqs:SendMessage'], [queueArn]);
}

export function allowReadingSecrets(to: ServiceFunction, ...secrets: Secret[]): void {
  to.allow(
    ['secretsmanager:GetSecretValue'],
    secrets.map(({ secretArn }) => secretArn),
  );
}

/**
 * The state of metric alarms. Asked for by a prefix of their names, the action is checked against all alarms of the account and region
 * (`alarm:*`): a narrower pattern would refuse the call. Composite alarms would take `*`.
 */
export function allowReadingAlarms(to: ServiceFunction): void {
  const alarms = Stack.of(to).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  to.allow(['cloudwatch:DescribeAlarms'], [alarms], {
    wildcardSince:
      'DescribeAlarms by a prefix is checked against all alarms of the account and region. It reads names, thresholds and states.',
  });
}

export function allowInvoking(to: ServiceFunction, ...functions: ServiceFunction[]): void {
  to.allow(
    ['lambda:InvokeFunction'],
    functions.map(({ lambda }) => lambda.functionArn),
  );
}

/** Executions of the one state machine, by its name: its ARN would be a circle, since it calls the functions. */
export function allowExecutions(
  to: ServiceFunction,
  stateMachineName: string,
  actions: ('states:StopExecution' | 'states:DescribeExecution')[],
): void {
  to.allow(['states:StartExecution'], [stateMachineArn(to, stateMachineName)]);
  const executions = Stack.of(to).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${stateMachineName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  to.allow(actions, [executions], {
    wildcardSince: 'Executions of the one state machine; each is named after its job.',
  });
}

export function stateMachineArn(scope: Construct, stateMachineName: string): string {
  return Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: stateMachineName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
