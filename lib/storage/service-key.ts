import { Arn, ArnFormat, Stack, Token } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct, IConstruct } from 'constructs';
import { StageError } from '../stages/read-stage.ts';

const keys = new WeakMap<IConstruct, IKey>();

/**
 * Calls of KMS that a service makes with the permissions of a role, by the action that the role may do:
 * docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html,
 * AmazonS3/latest/userguide/UsingKMSEncryption.html,
 * AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html,
 * secretsmanager/latest/userguide/security-encryption.html, step-functions/latest/dg/encryption-at-rest.html.
 */
export const kmsCalls: Readonly<Record<string, readonly string[]>> = {
  'dynamodb:GetItem': ['kms:Decrypt', 'kms:DescribeKey'],
  'dynamodb:PutItem': ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
  's3:GetObject': ['kms:Decrypt'],
  's3:PutObject': ['kms:Decrypt', 'kms:GenerateDataKey'],
  'secretsmanager:GetSecretValue': ['kms:Decrypt'],
  'sqs:SendMessage': ['kms:Decrypt', 'kms:GenerateDataKey'],
  'states:DescribeExecution': ['kms:Decrypt'],
  'states:StartExecution': ['kms:Decrypt', 'kms:GenerateDataKey'],
  'states:StartSyncExecution': ['kms:Decrypt', 'kms:GenerateDataKey'],
};

/**
 * Encrypts what a deployment stores with a key, which its services may use. Throws `StageError` for a key of another
 * region.
 */
export function encryptWith(service: Construct, key: IKey): void {
  const { region } = Stack.of(service);
  const ofKey = Token.isUnresolved(key.keyArn)
    ? region
    : Arn.split(key.keyArn, ArnFormat.SLASH_RESOURCE_NAME).region;
  if (ofKey !== region)
    throw new StageError(
      `${service.node.path}: the encryption key is in ${ofKey}, and the stack in ${region}. Use a key of ${region}, or a replica of a multi-Region key there.`,
    );
  keys.set(service, key);
  const actions = ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'];
  // CloudWatch publishes alarms, and EventBridge sends dead letters. A key that another stack made has them in its own
  // policy (docs/operate/aws.md).
  for (const name of [`logs.${region}`, 'cloudwatch', 'events'])
    key.grant(new ServicePrincipal(`${name}.amazonaws.com`), ...actions);
}

/** Returns the key of the deployment to which a construct belongs. Undefined for keys of AWS. */
export function serviceKey(scope: Construct): IKey | undefined {
  const service = scope.node.scopes.findLast((each) => keys.has(each));
  return service && keys.get(service);
}

export function queueEncryption(scope: Construct) {
  const key = serviceKey(scope);
  return key
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: QueueEncryption.SQS_MANAGED };
}

/** Returns the calls of KMS that follow from actions of a role, by service. */
export function listKmsCalls(actions: readonly string[]): { service: string; calls: string[] }[] {
  const services = new Map<string, Set<string>>();
  for (const action of actions) {
    const [service = ''] = action.split(':');
    for (const call of kmsCalls[action] ?? [])
      services.set(service, (services.get(service) ?? new Set()).add(call));
  }
  return [...services].map(([service, calls]) => ({ service, calls: [...calls] }));
}

/** Returns the statement that lets a role use the key of its deployment for the calls of a service. */
export function viaService(scope: Construct, key: IKey, service: string, actions: string[]): PolicyStatement {
  const { region } = Stack.of(scope);
  return new PolicyStatement({
    actions,
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` } },
  });
}
