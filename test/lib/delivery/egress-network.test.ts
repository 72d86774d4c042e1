import { describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { describeRoles } from '../roles.ts';
import { stageKinds } from '../stage-kinds.ts';
import { ofType, one, ownFunctions, synthesize } from '../synthesize.ts';

const made = synthesize(stageKinds['fixed-egress']);
const given = synthesize(stageKinds['own-vpc']);

describe('EgressNetwork', () => {
  test('capture and deliver leave through a NAT gateway with an address that is an output', () => {
    const functions = ownFunctions(made);
    for (const [name, { VpcConfig }] of Object.entries(functions))
      expect([name, VpcConfig !== undefined]).toEqual([name, ['capture', 'deliver'].includes(name)]);
    const [[address]] = ofType(made, 'AWS::EC2::EIP') as any;
    expect(one(made, 'AWS::EC2::NatGateway', 'Egress').AllocationId).toEqual({
      'Fn::GetAtt': [address, 'AllocationId'],
    });
    expect(made.template.toJSON()['Outputs'].EgressAddress.Value).toEqual({ Ref: address });
  });

  test('traffic to S3 and DynamoDB passes without the NAT gateway', () => {
    expect(ofType(made, 'AWS::EC2::VPCEndpoint')).toHaveLength(2);
  });

  test('a given VPC is used, and none is created', () => {
    expect(ofType(given, 'AWS::EC2::VPC')).toEqual([]);
    expect(ownFunctions(given)['capture'].VpcConfig.SubnetIds).toEqual([
      'subnet-0a1b2c3d',
      'subnet-1a1b2c3d',
    ]);
    const { GroupDescription, SecurityGroupIngress } = one(given, 'AWS::EC2::SecurityGroup', 'Egress');
    expect(GroupDescription).toContain('Watchpost');
    expect(SecurityGroupIngress).toBeUndefined();
  });

  test.each([
    [made, '10.213.0.0/24'],
    [given, '10.0.0.0/16'],
  ])('the guards of both functions know the ranges of the VPC', (synthesized, range) => {
    for (const name of ['capture', 'deliver'])
      expect(ownFunctions(synthesized)[name].Environment.Variables.DENY_RANGES).toBe(range);
  });

  test('the code of a function cannot use the permissions for its network interfaces', () => {
    const lines = describeRoles(made.resources).split('\n');
    const interfaces = lines.filter((line) => line.includes('ec2:'));
    expect(interfaces).toHaveLength(12);
    for (const line of interfaces) expect(line).toContain('"Null":{"lambda:SourceFunctionArn":"true"}');
  });
});

test('a range of the own network stays closed, also if an allowed range contains it', async () => {
  const guard = createEgressGuard({
    allowRanges: ['10.0.0.0/8'],
    denyRanges: ['10.213.0.0/24', '203.0.113.0/24'],
  });
  await expect(guard.resolve('10.213.0.2')).rejects.toThrow();
  await expect(guard.resolve('203.0.113.9')).rejects.toThrow();
  expect(await guard.resolve('10.1.2.3')).toEqual([{ address: '10.1.2.3', family: 4 }]);
});
