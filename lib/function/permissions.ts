import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { busSource } from '../../adapters/aws/bus-source.ts';
import { keyPrefixes, partitionKey, sortKey } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { Index } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import { MediaBucket } from '../storage/buckets.ts';
import type { ServiceFunction } from './service-function.ts';

/**
 * Permissions of functions by purpose: exact actions on exact resources. `test/lib/roles.snapshot.md` lists the result
 * for each role.
 */

type TableUse = {
  /** True for functions that authenticate callers; otherwise items of API keys are excluded. */
  apiKeys: boolean;
  /** Indexes that its operations query: a permission on the table covers none. */
  indexes?: readonly Index[];
};

/** Grants reading and writing of items, without scans. */
export function allowTable(
  to: ServiceFunction,
  { tableArn }: Table,
  { apiKeys, indexes = [] }: TableUse,
): void {
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
  for (const { name } of indexes) to.allow(['dynamodb:Query'], [`${tableArn}/index/${name}`]);
}

/**
 * Grants reading of all items, API keys too, writing of those whose partition keys have the prefix, and the update that
 * stores the last use of a key.
 */
export function allowReadingTable(to: ServiceFunction, { tableArn }: Table, writtenPrefix: string): void {
  to.allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'], [tableArn]);
  to.allow(['dynamodb:PutItem'], [tableArn], { conditions: leadingKeys([`${writtenPrefix}*`]) });
  const [keys, attributes] = ['dynamodb:LeadingKeys', 'dynamodb:Attributes'];
  to.allow(['dynamodb:UpdateItem'], [tableArn], {
    conditions: {
      'ForAllValues:StringLike': { [keys]: [`${keyPrefixes.key}*`] },
      'ForAllValues:StringEquals': { [attributes]: [partitionKey.name, sortKey.name, 'last_used_at'] },
      Null: { [keys]: 'false', [attributes]: 'false' },
    },
  });
}

/** Grants `GetItem` for partition keys with the prefix, and no other access to the table. */
export function allowReadingItems(to: ServiceFunction, { tableArn }: Table, keyPrefix: string): void {
  to.allow(['dynamodb:GetItem'], [tableArn], {
    conditions: leadingKeys([`${keyPrefix}*`]),
  });
}

function leadingKeys(patterns: string[]) {
  return forAllValues('StringLike', 'dynamodb:LeadingKeys', patterns);
}

/**
 * Returns a condition on a key with several values. `Null` is needed, because `ForAllValues` also holds for a request
 * without values.
 */
function forAllValues(operator: 'StringEquals' | 'StringLike', key: string, values: string[]) {
  return { [`ForAllValues:${operator}`]: { [key]: values }, Null: { [key]: 'false' } };
}

/** Grants actions on captures in the media bucket. */
export function allowMedia(
  to: ServiceFunction,
  bucket: Bucket,
  actions: ('s3:GetObject' | 's3:PutObject' | 's3:DeleteObject')[],
): void {
  // `capture`, which only writes, stores no evidence.
  const prefixes = [
    MediaBucket.prefix,
    MediaBucket.momentPrefix,
    MediaBucket.clipPrefix,
    ...(actions.includes('s3:GetObject') ? [MediaBucket.evidencePrefix] : []),
  ];
  to.allow(
    actions,
    prefixes.map((prefix) => bucket.arnForObjects(`${prefix}*`)),
    { wildcardReason: 'Captures, moments, clips and evidence have random names below their prefixes.' },
  );
  // Without ListBucket, S3 reports a missing object as 403 instead of 404.
  if (actions.includes('s3:GetObject')) to.allow(['s3:ListBucket'], [bucket.bucketArn]);
}

/** Grants deletion of clips whose alert is gone, and of moments that a watch has forgotten. */
export function allowRemovingMemory(to: ServiceFunction, bucket: Bucket): void {
  const prefixes = [MediaBucket.clipPrefix, MediaBucket.momentPrefix];
  to.allow(
    ['s3:DeleteObject'],
    prefixes.map((prefix) => bucket.arnForObjects(`${prefix}*`)),
    { wildcardReason: 'Each alert has its clip below the prefix, each moment its picture.' },
  );
}

/**
 * Grants reading of motion references (`adapters/aws/execution-state.ts`), not of frames and clips. A missing one is
 * refused, as without `ListBucket`.
 */
export function allowMotionReferences(to: ServiceFunction, bucket: Bucket): void {
  to.allow(['s3:GetObject'], [bucket.arnForObjects(`${MediaBucket.prefix}*/motion-*`)], {
    wildcardReason: 'Each run has its motion reference below its prefix.',
  });
}

export function allowSending(to: ServiceFunction, { queueArn }: Queue): void {
  to.allow(['sqs:SendMessage'], [queueArn]);
}

export function allowPuttingEvents(
  to: ServiceFunction,
  { eventBusArn }: Pick<IEventBus, 'eventBusArn'>,
): void {
  to.allow(['events:PutEvents'], [eventBusArn], {
    // An array, since one request has several events
    // (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-conditions.html).
    conditions: forAllValues('StringEquals', 'events:source', [busSource]),
  });
}

export function allowReadingSecrets(to: ServiceFunction, ...secrets: Secret[]): void {
  to.allow(
    ['secretsmanager:GetSecretValue'],
    secrets.map(({ secretArn }) => secretArn),
  );
}

/**
 * Grants reading the state of metric alarms. `DescribeAlarms` with a name prefix is authorized against all alarms of
 * the account and region (`alarm:*`): a narrower pattern would reject the call. Composite alarms would require `*`.
 */
export function allowReadingAlarms(to: ServiceFunction): void {
  const alarms = Stack.of(to).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  to.allow(['cloudwatch:DescribeAlarms'], [alarms], {
    wildcardReason:
      'DescribeAlarms with a prefix is authorized against all alarms of the account and region. It reads names, thresholds and states.',
  });
}

/**
 * Grants invocation of functions: by their alias, and by their name, which instances and executions of earlier releases
 * use.
 */
export function allowInvoking(to: ServiceFunction, ...functions: ServiceFunction[]): void {
  to.allow(
    ['lambda:InvokeFunction'],
    functions.flatMap(({ live, lambda }) => [live.functionArn, lambda.functionArn]),
  );
}

/** Grants actions on executions of the state machines. Uses their names: their ARNs would be a circular dependency. */
export function allowExecutions(
  to: ServiceFunction,
  { current, other }: { current: string; other: string },
  actions: ('states:StopExecution' | 'states:DescribeExecution')[],
): void {
  to.allow(['states:StartExecution'], [stateMachineArn(to, current)]);
  const executions = [current, other].map((stateMachineName) =>
    Stack.of(to).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachineName}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  );
  to.allow(actions, executions, {
    wildcardReason: 'Executions of the state machines of jobs; each is named after its job.',
  });
}

/** Grants listing the executions of the state machines. */
export function allowListingExecutions(
  to: ServiceFunction,
  { current, other }: { current: string; other: string },
): void {
  to.allow(
    ['states:ListExecutions'],
    [current, other].map((name) => stateMachineArn(to, name)),
  );
}

export function stateMachineArn(scope: Construct, stateMachineName: string): string {
  return Stack.of(scope).formatArn({
    service: 'states',
    resource: 'stateMachine',
    resourceName: stateMachineName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
