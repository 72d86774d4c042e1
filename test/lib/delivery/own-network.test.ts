import { describe, expect, test } from 'vitest';
import { endpointsByService, listEndpoints } from '../../../lib/delivery/network-endpoints.ts';
import { stageSettingsSchema } from '../../../lib/stages/stage-settings.ts';
import { readStatements } from '../roles.ts';
import { stageKinds } from '../stage-kinds.ts';
import { ofType, ownFunctions, synthesize } from '../synthesize.ts';

const kind = stageKinds['own-network'];
const placed = synthesize(kind);
const outputs = placed.template.toJSON()['Outputs'];

describe('a network of the deployer', () => {
  test('every function of the service and the one that copies the console are in the subnets and security groups', () => {
    const functions = ofType(placed, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties);
    expect(functions).toHaveLength(8);
    for (const { VpcConfig } of functions)
      expect(VpcConfig).toEqual({
        SubnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
        SecurityGroupIds: ['sg-0a1b2c3d'],
      });
  });

  test('the stack has a security group for all functions if the deployer names none', () => {
    const { securityGroupIds: _, ...network } = kind.network!;
    const made = synthesize({ network });
    const [[id] = []] = ofType(made, 'AWS::EC2::SecurityGroup');
    for (const { VpcConfig } of Object.values(ownFunctions(made)))
      expect(VpcConfig.SecurityGroupIds).toEqual([{ 'Fn::GetAtt': [id, 'GroupId'] }]);
  });

  test('the guards of every function that connects elsewhere know the ranges of the network', () => {
    for (const name of ['capture', 'deliver', 'api', 'stream', 'events'])
      expect(ownFunctions(placed)[name].Environment.Variables.DENY_RANGES, name).toBe('10.0.0.0/16');
  });

  test('the endpoints that the stack names are those of its region', () => {
    expect(outputs.NetworkEndpoints.Value.split(',')).toContain('com.amazonaws.eu-central-1.bedrock-runtime');
    const elsewhere = listEndpoints(
      stageSettingsSchema.parse({ bedrockRegion: 'us-east-1' }),
      'eu-central-1',
    );
    expect(elsewhere.filter((name) => name.includes('bedrock'))).toEqual([]);
  });
});

/**
 * Actions that the functions do not request themselves: Lambda writes the logs and attaches the network, services call
 * KMS.
 */
const ofServices = /^(logs:(CreateLogStream|PutLogEvents)|ec2:|kms:)/;

test.each(Object.entries(stageKinds))(
  'the endpoints of a stage of kind %s are those of the services that its functions call',
  (_, settings) => {
    const stage = synthesize(settings);
    const roles = new Set<string>(
      Object.values(ownFunctions(stage)).map(({ Role }) => Role['Fn::GetAtt'][0]),
    );
    const services = [...roles]
      .flatMap((id) => readStatements(id, stage.resources))
      .flatMap(({ Action }) => [Action].flat())
      .filter((action) => !ofServices.test(action))
      .map((action) => action.split(':')[0]!);
    const needed = new Set(services.map((service) => endpointsByService[service]?.name ?? service));
    const { region } = stage.stack;
    expect(listEndpoints(stageSettingsSchema.parse(settings), region).toSorted()).toEqual(
      [...needed].map((name) => `com.amazonaws.${region}.${name}`).toSorted(),
    );
  },
);

test('boundary and tags reach every role of the stack, also those of the CDK', () => {
  const tagged = synthesize({ ...kind, tags: { team: 'yard' } });
  for (const [id, { Properties }] of ofType(tagged, 'AWS::IAM::Role')) {
    expect(Properties.PermissionsBoundary, id).toBe('arn:aws:iam::123456789012:policy/boundary');
    expect(Properties.Tags, id).toContainEqual({ Key: 'team', Value: 'yard' });
  }
});

test('each output is a parameter, with the ARNs that another stack needs', () => {
  const parameters = ofType(placed, 'AWS::SSM::Parameter').map(([, { Properties }]) => Properties);
  const names = parameters.map(({ Name }) => Name.replace('/watchpost/test/', ''));
  expect(names).toEqual(expect.arrayContaining(Object.keys(outputs)));
  expect(names).toEqual(
    expect.arrayContaining(['TableArn', 'DeliveryQueueArn', 'ApiFunctionArn', 'DistributionDomainName']),
  );
});
