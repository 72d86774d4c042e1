import {
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import type { RouteTable } from '@aws-sdk/client-ec2';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import { listEndpoints } from '../../../../lib/delivery/network-endpoints.ts';
import { checkNetwork } from '../../../../lib/operations/preflight/network.ts';
import { stageSettingsSchema, type StageSettingsInput } from '../../../../lib/stages/stage-settings.ts';

const client = new EC2Client({ region: 'eu-central-1' });
const ec2 = mockClient(client);
const network = {
  vpcId: 'vpc-1',
  subnetIds: ['subnet-1', 'subnet-2'],
  securityGroupIds: ['sg-1'],
  ranges: ['10.0.0.0/24'],
};
const local = { DestinationCidrBlock: '10.0.0.0/16', GatewayId: 'local' };
const nat = { DestinationCidrBlock: '0.0.0.0/0', NatGatewayId: 'nat-1' };
const vpn = { DestinationCidrBlock: '192.168.0.0/16', TransitGatewayId: 'tgw-1' };
const needed = listEndpoints(stageSettingsSchema.parse({}), 'eu-central-1');
const allEndpoints = needed.map((ServiceName) =>
  /\.(s3|dynamodb)$/.test(ServiceName)
    ? { ServiceName, State: 'available', VpcEndpointType: 'Gateway', RouteTableIds: ['rtb-1'] }
    : { ServiceName, State: 'available', VpcEndpointType: 'Interface', PrivateDnsEnabled: true },
) as object[];
const open = { IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }] };

type Vpc = { routes: object[]; endpoints?: object[]; zones?: string[]; vpc?: string; egress?: object[] };

/** Returns the checks of a VPC in short: one level per check. */
async function check(
  { routes, endpoints = [], zones, vpc, egress }: Vpc,
  more: StageSettingsInput = {},
): Promise<Partial<Record<'network' | 'security groups' | 'routes' | 'endpoints', string>>> {
  const table: RouteTable = { RouteTableId: 'rtb-1', Associations: [{ Main: true }], Routes: routes };
  ec2.reset();
  ec2.on(DescribeRouteTablesCommand).resolves({ RouteTables: [table] });
  ec2.on(DescribeVpcEndpointsCommand).resolves({ VpcEndpoints: endpoints });
  ec2.on(DescribeSubnetsCommand).resolves({
    Subnets: (zones ?? ['a', 'b']).map((AvailabilityZone, index) => ({
      SubnetId: `subnet-${index + 1}`,
      VpcId: vpc ?? 'vpc-1',
      AvailabilityZone,
    })),
  });
  ec2.on(DescribeSecurityGroupsCommand).resolves({
    SecurityGroups: [{ GroupId: 'sg-1', VpcId: 'vpc-1', IpPermissionsEgress: egress ?? [open] }],
  });
  const settings = stageSettingsSchema.parse({ network, ...more });
  const results = await checkNetwork(settings, 'eu-central-1', client);
  for (const { level, next } of results) if (level !== 'green') expect(next).toMatch(/^[A-Z].+\.$/);
  return Object.fromEntries(results.map(({ check: name, level, found }) => [name, `${level}: ${found}`]));
}

test('private subnets with a NAT gateway are green, without an endpoint', async () => {
  const results = await check({ routes: [local, nat] });
  expect(Object.keys(results)).toEqual(['network', 'security groups', 'routes', 'endpoints']);
  for (const text of Object.values(results)) expect(text).toMatch(/^green/);
});

test.each<[string, object[]]>([
  ['without any route out', [local]],
  ['whose route out is a black hole', [local, { ...nat, State: 'blackhole' }]],
])('a VPC %s is red: no stream is reached from it', async (_, routes) => {
  expect((await check({ routes, endpoints: allEndpoints })).routes).toBe(
    'red: subnet-1 has no route to streams and receivers.',
  );
});

test('a public subnet is red, because functions have no public address', async () => {
  const routes = [local, { DestinationCidrBlock: '0.0.0.0/0', GatewayId: 'igw-1' }];
  expect((await check({ routes })).routes).toMatch(/^red: subnet-1 leads to an internet gateway/);
});

test('a VPC with a route to the cameras is green for their ranges, and red for others', async () => {
  const vpc = { routes: [local, vpn], endpoints: allEndpoints };
  expect((await check(vpc, { allowRanges: ['192.168.1.0/24', '10.0.5.0/24'] })).routes).toMatch(/^green/);
  expect((await check(vpc, { allowRanges: ['192.168.1.0/24', '172.16.0.0/24'] })).routes).toBe(
    'red: subnet-1 has no route to 172.16.0.0/24.',
  );
  // A range that is wider than its route.
  expect((await check(vpc, { allowRanges: ['192.0.0.0/8'] })).routes).toMatch(/^red/);
});

test('each missing endpoint of a VPC without a route to the internet is named', async () => {
  const closed = { allowRanges: ['192.168.1.0/24'] };
  const routes = [local, vpn];
  expect((await check({ routes, endpoints: allEndpoints }, closed)).endpoints).toMatch(/^green/);
  for (const [index, name] of needed.entries())
    expect((await check({ routes, endpoints: allEndpoints.toSpliced(index, 1) }, closed)).endpoints).toBe(
      `red: Missing: ${name}.`,
    );
  for (const change of [{ State: 'pending' }, { PrivateDnsEnabled: false, RouteTableIds: ['rtb-2'] }]) {
    const endpoints = allEndpoints.map((each) => ({ ...each, ...change }));
    expect((await check({ routes, endpoints }, closed)).endpoints).toBe(
      `red: Missing: ${needed.join(', ')}.`,
    );
  }
  expect(
    (await check({ routes, endpoints: allEndpoints }, { ...closed, bedrockRegion: 'us-east-1' })).endpoints,
  ).toMatch(/^red: The model in us-east-1/);
});

test('subnets of one zone or of another VPC, and closed security groups, are named', async () => {
  const routes = [local, nat];
  expect((await check({ routes, zones: ['a', 'a'] })).network).toMatch(/^yellow/);
  expect((await check({ routes, vpc: 'vpc-2' })).network).toBe('red: subnet-1, subnet-2 is not in vpc-1.');
  expect((await check({ routes, egress: [] }))['security groups']).toMatch(/^red/);
  const web = { IpProtocol: 'tcp', FromPort: 443, ToPort: 443, IpRanges: [{ CidrIp: '0.0.0.0/0' }] };
  expect((await check({ routes, egress: [web] }))['security groups']).toMatch(/^yellow/);
});

test('subnets of fixed addresses are checked too, without endpoints', async () => {
  const { securityGroupIds: _, ...fixedEgress } = network;
  const results = await check({ routes: [local] }, { network: undefined, fixedEgress });
  expect(Object.keys(results)).toEqual(['network', 'routes']);
  expect(await check({ routes: [] }, { network: undefined, fixedEgress: 'new-vpc' })).toEqual({});
});

test.each([
  ['InvalidSubnetID.NotFound', 'red'],
  ['UnauthorizedOperation', 'yellow'],
])('a VPC whose description fails with %s is %s', async (name, level) => {
  ec2.reset();
  ec2.on(DescribeRouteTablesCommand).rejects(Object.assign(new Error('The ID does not exist.'), { name }));
  expect(await checkNetwork(stageSettingsSchema.parse({ network }), 'eu-central-1', client)).toMatchObject([
    { check: 'network', level, next: expect.stringMatching(/\.$/) },
  ]);
});
