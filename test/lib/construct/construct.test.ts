import { App, Stack, Tags } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { CfnSecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { expect, test } from 'vitest';
import { Watchpost, type WatchpostProps } from '../../../lib/index.ts';
import { folderOfRun } from '../../support/runner/run-folder.ts';
import { emptyBundles, ofType, one, synthesize } from '../synthesize.ts';

const env = { account: '123456789012', region: 'eu-central-1' };
const newApp = (context = {}) => new App({ context, outdir: folderOfRun() });
const create = (scope: Stack, id: string, props: WatchpostProps = {}) =>
  new Watchpost(scope, id, { bundles: emptyBundles(), forDeployment: false, ...props });

test('a stage is the construct with an id that is no part of logical ids, whose table no change replaces', () => {
  const synthesized = synthesize();
  const [[id] = []] = ofType(synthesized, 'AWS::DynamoDB::Table');
  expect(id).toBe('JobsTable10C8EDF6');
  const { TableName, KeySchema } = one(synthesized, 'AWS::DynamoDB::Table', 'Jobs');
  expect(TableName).toBeUndefined();
  expect(KeySchema).toEqual([
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ]);
});

test('the flags of an app do not change what the construct creates', () => {
  const types = (context: Record<string, unknown>) => {
    const stack = new Stack(newApp(context), 'Site', { env });
    create(stack, 'Watchpost');
    return JSON.stringify(stack.node.findAll().map(({ node }) => node.path));
  };
  const synthesized = types({});
  expect(
    types({
      '@aws-cdk/aws-s3:createDefaultLoggingPolicy': false,
      '@aws-cdk/aws-iam:minimizePolicies': false,
    }),
  ).toBe(synthesized);
});

test('tags and a permissions boundary of the app reach the construct', () => {
  const stack = new Stack(newApp(), 'Site', { env });
  const watchpost = create(stack, 'Watchpost');
  Tags.of(watchpost).add('team', 'yard');
  const boundary = 'arn:aws:iam::123456789012:policy/boundary';
  PermissionsBoundary.of(watchpost).apply(ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', boundary));
  const template = Template.fromStack(stack);
  const roles = Object.entries(template.findResources('AWS::IAM::Role'));
  const own = roles.filter(([id]) => id.startsWith('Watchpost'));
  expect(own.length).toBeGreaterThan(9);
  for (const [id, { Properties }] of own) expect(Properties.PermissionsBoundary, id).toBe(boundary);
  template.hasResourceProperties('AWS::DynamoDB::Table', { Tags: [{ Key: 'team', Value: 'yard' }] });
});

test('a stack without a region is refused, with what to do', () => {
  expect(() => create(new Stack(newApp(), 'Site'), 'Watchpost')).toThrow(
    /Site\/Watchpost: the stack has no region.*env: { region/,
  );
});

test.each<[WatchpostProps, string]>([
  [
    { alarmEmail: 'a@example.com', alarmTopicArn: 'arn:aws:sns:eu-central-1:123456789012:x' },
    'alarmTopicArn',
  ],
  [
    { requestsPerAddress: 100, webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/x/1' },
    'webAclArn',
  ],
  [{ emailFrom: 'a@example.com' }, 'smtpSecretArn'],
  [{ eventStreams: 100, reservedConcurrency: { events: 50 } }, 'reservedConcurrency.events'],
  [
    {
      fixedEgress: 'new-vpc',
      network: { vpcId: 'vpc-1', subnetIds: ['subnet-1'], ranges: ['10.0.0.0/16'] },
    },
    'remove fixedEgress',
  ],
])('properties that contradict each other are refused with the path of the construct: %j', (props, named) => {
  const stack = new Stack(newApp(), 'Site', { env });
  expect(() => create(stack, 'Watchpost', props)).toThrow(/^Site\/Watchpost:\n/);
  expect(() => create(stack, 'Other', props)).toThrow(named);
});

test('a resource of another region is refused, with the path of the construct and what to do', () => {
  const stack = new Stack(newApp(), 'Site', { env });
  const secret = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:x-abcdef';
  for (const props of [
    { alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:pager' },
    { smtpSecretArn: secret, emailFrom: 'a@example.com' },
    { platformSecretArn: secret },
  ])
    expect(() => create(stack, Object.keys(props).join('-'), props)).toThrow(
      `Site/${Object.keys(props).join('-')}: ${Object.keys(props)[0]} is in us-east-1, and the stack in eu-central-1. Name one of eu-central-1.`,
    );
});

test('two keys for one deployment are refused', () => {
  const stack = new Stack(newApp(), 'Site', { env });
  const encryptionKeyArn = 'arn:aws:kms:eu-central-1:123456789012:key/1';
  const encryptionKey = new Key(stack, 'Key');
  expect(() => create(stack, 'Watchpost', { encryptionKey, encryptionKeyArn })).toThrow(
    'Site/Watchpost: encryptionKey and encryptionKeyArn name a key each: remove one.',
  );
});

test('properties of a network can be those of resources of the app', () => {
  const stack = new Stack(newApp(), 'Site', { env });
  const vpc = new Vpc(stack, 'Vpc', { natGateways: 1, maxAzs: 2 });
  const group = new CfnSecurityGroup(stack, 'Group', { groupDescription: 'Yard', vpcId: vpc.vpcId });
  create(stack, 'Watchpost', {
    network: {
      vpcId: vpc.vpcId,
      subnetIds: vpc.privateSubnets.map(({ subnetId }) => subnetId),
      securityGroupIds: [group.attrGroupId],
      ranges: [vpc.vpcCidrBlock],
    },
  });
  const placed = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function')).filter(
    ({ Properties }) => Properties.Description?.startsWith('Watchpost'),
  );
  expect(placed).toHaveLength(7);
  for (const { Properties } of placed) expect(Properties.VpcConfig.SubnetIds).toHaveLength(2);
});

test('a name that is too long for what has it in the account is refused, with what to do', () => {
  const stack = new Stack(newApp(), 'Site', { env });
  expect(() => create(stack, 'Watchpost', { name: 'a'.repeat(41) })).toThrow(
    `Site/Watchpost: the name ${'a'.repeat(41)} has 41 characters. Set the property name to one of at most 40.`,
  );
  create(stack, 'Other', { name: 'a'.repeat(40) });
});

test('two constructs with one name are refused, unless they are in two regions', () => {
  const app = newApp();
  create(new Stack(app, 'A', { env }), 'B-C');
  create(new Stack(app, 'A-B', { env: { ...env, region: 'us-east-1' } }), 'C');
  expect(() => create(new Stack(app, 'AB', { env, stackName: 'A-B' }), 'C')).toThrow(
    'A/B-C and AB/C have the same name, A-B-C. Set the property name of one of them.',
  );
  create(new Stack(app, 'AB2', { env, stackName: 'A-B' }), 'C', { name: 'yard' });
});
