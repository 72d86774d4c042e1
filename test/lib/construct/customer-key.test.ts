import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { expect, test } from 'vitest';
import { Watchpost } from '../../../lib/index.ts';
import { kmsCalls, listKmsCalls } from '../../../lib/storage/service-key.ts';
import recorded from '../iam/requests.snapshot.json' with { type: 'json' };
import { isPermitted, listGrants, mayUse } from '../iam/simulate.ts';
import { findings } from '../findings.ts';
import { readStatements, resolveAll, withoutHash } from '../roles.ts';
import { folderOfRun } from '../../support/runner/run-folder.ts';
import { emptyBundles, synthesize, type Resource } from '../synthesize.ts';

const env = { account: '123456789012', region: 'eu-central-1' };
const app = new App({ outdir: folderOfRun() });
const stack = new Stack(app, 'Site', { env });
const encryptionKey = new Key(stack, 'Key', { enableKeyRotation: true });
new Watchpost(stack, 'Watchpost', { bundles: emptyBundles(), forDeployment: false, encryptionKey });
const resources: Record<string, Resource> = Template.fromStack(stack).toJSON()['Resources'];
const ofType = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type);
/** Policy that the construct and the CDK have given to the key. */
const keyPolicy = JSON.parse(
  JSON.stringify(resolveAll(ofType('AWS::KMS::Key')[0]![1].Properties.KeyPolicy, resources)).replaceAll(
    env.account,
    '000000000000',
  ),
);
const arn = { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] };

test.each<[string, (properties: any) => unknown, RegExp?]>([
  ['AWS::DynamoDB::Table', ({ SSESpecification }) => SSESpecification.KMSMasterKeyId],
  ['AWS::SQS::Queue', ({ KmsMasterKeyId }) => KmsMasterKeyId],
  ['AWS::Logs::LogGroup', ({ KmsKeyId }) => KmsKeyId],
  ['AWS::SecretsManager::Secret', ({ KmsKeyId }) => KmsKeyId],
  ['AWS::SNS::Topic', ({ KmsMasterKeyId }) => KmsMasterKeyId],
  ['AWS::StepFunctions::StateMachine', ({ EncryptionConfiguration }) => EncryptionConfiguration.KmsKeyId],
])('each %s has the key of the deployment', (type, readKey) => {
  const found = ofType(type);
  expect(found.length).toBeGreaterThan(0);
  for (const [id, { Properties }] of found) expect(readKey(Properties), id).toEqual(arn);
});

test('the bucket of media has the key, with a bucket key, and buckets of logs and of the console keep that of S3', () => {
  const rules = ofType('AWS::S3::Bucket').map(([id, { Properties }]) => [
    id,
    Properties.BucketEncryption.ServerSideEncryptionConfiguration[0],
  ]);
  for (const [id, rule] of rules)
    expect(rule, String(id)).toMatchObject(
      String(id).startsWith('WatchpostMedia')
        ? { BucketKeyEnabled: true, ServerSideEncryptionByDefault: { KMSMasterKeyID: arn } }
        : { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    );
});

test('each role may use the key for what its services call, through these services alone', () => {
  const roles = ofType('AWS::IAM::Role').filter(([id]) => id.startsWith('Watchpost'));
  for (const [id] of roles) {
    const statements = readStatements(id, resources);
    const needed = statements.flatMap(({ Action }) =>
      [Action]
        .flat()
        .flatMap((action) => (kmsCalls[action] ?? []).map((call) => [action.split(':')[0], call])),
    );
    for (const [service, call] of needed) {
      const permitted = statements.some(({ Action, Condition }) => {
        const via = [(Condition as any)?.StringEquals?.['kms:ViaService']].flat();
        return [Action].flat().includes(call!) && via.includes(`${service}.eu-central-1.amazonaws.com`);
      });
      expect(permitted, `${withoutHash(id)}: ${call} via ${service}`).toBe(true);
    }
  }
});

test('the calls of KMS for each request of the emulated stack are permitted, by roles and by the policy of the key', async () => {
  const keyArn = 'arn:aws:kms:us-east-1:000000000000:key/11111111-2222-3333-4444-555555555555';
  const grants = listGrants(
    synthesize({ encryptionKeyArn: keyArn.replace('us-east-1', 'eu-central-1') }).resources,
  );
  const calls = new Map(
    recorded.flatMap(({ role, action }) =>
      listKmsCalls([action]).flatMap(({ service, calls }) =>
        calls.map((call) => {
          const context = { 'kms:ViaService': [`${service}.eu-central-1.amazonaws.com`] };
          return [`${role} ${service} ${call}`, { role, action: call, resource: keyArn, context }];
        }),
      ),
    ),
  );
  expect(calls.size).toBeGreaterThan(20);
  for (const [name, request] of calls) {
    expect(await isPermitted(request, grants, keyPolicy), name).toBe(true);
    // The CDK lets the consumer of a queue decrypt without a condition.
    if (/^WebhooksDeliverRole .*kms:Decrypt$/.test(name)) continue;
    const elsewhere = { ...request, context: { 'kms:ViaService': ['ec2.eu-central-1.amazonaws.com'] } };
    expect(await isPermitted(elsewhere, grants, keyPolicy), name).toBe(false);
  }
});

/**
 * Calls of services with a key that no role makes:
 * docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html, sns/latest/dg/sns-key-management.html.
 */
const callsOfServices: Record<string, string[]> = {
  'logs.eu-central-1': ['kms:Encrypt', 'kms:Decrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'],
  cloudwatch: ['kms:Decrypt', 'kms:GenerateDataKey'],
  events: ['kms:Decrypt', 'kms:GenerateDataKey'],
  'delivery.logs': ['kms:Decrypt'],
};

test('the policy of the key permits the calls that services make without a role, and none of another service', async () => {
  for (const [name, calls] of Object.entries(callsOfServices))
    for (const action of calls)
      expect(await mayUse(`${name}.amazonaws.com`, action, keyPolicy), `${name}: ${action}`).toBe(true);
  expect(await mayUse('ec2.amazonaws.com', 'kms:Decrypt', keyPolicy)).toBe(false);
  expect(await mayUse('cloudwatch.amazonaws.com', 'kms:ScheduleKeyDeletion', keyPolicy)).toBe(false);
});

test('the rules of cdk-nag have nothing against a deployment with a key', () => {
  const { found, acknowledged } = findings(app);
  expect(
    found.filter(
      ({ rule, path }) => !acknowledged.some((each) => each.rule === rule && path.startsWith(each.path)),
    ),
  ).toEqual([]);
});

test('a key of another region is refused, with what to do', () => {
  const encryptionKeyArn = 'arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555';
  expect(() => synthesize({ encryptionKeyArn })).toThrow(
    /the encryption key is in us-east-1.*Use a key of eu-central-1/,
  );
  const own = encryptionKeyArn.replace('us-east-1', 'eu-central-1');
  expect(JSON.stringify(synthesize({ encryptionKeyArn: own }).resources)).toContain(own);
});
