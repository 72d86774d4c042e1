import {
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
} from '@aws-sdk/client-ec2';
import type { EC2Client, Route, RouteTable, VpcEndpoint } from '@aws-sdk/client-ec2';
import ipaddr from 'ipaddr.js';
import { listEndpoints } from '../../delivery/network-endpoints.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';
import { about, type PreflightResult } from './result.ts';

type Settings = Pick<
  StageSettings,
  'network' | 'fixedEgress' | 'allowRanges' | 'eventBus' | 'visionProvider' | 'bedrockRegion'
>;
type Network = { vpcId: string; subnetIds: string[]; securityGroupIds?: string[] | undefined };
type Routed = { subnet: string; table: RouteTable | undefined };

/**
 * Checks subnets of the deployer: that streams, receivers and AWS can be reached from them. Returns no result without
 * any.
 */
export async function checkNetwork(
  settings: Settings,
  region: string,
  client: Pick<EC2Client, 'send'>,
): Promise<PreflightResult[]> {
  const placed = settings.network ?? settings.fixedEgress;
  if (placed === undefined || placed === 'new-vpc') return [];
  try {
    const tables = await readTables(placed, client);
    const routed = placed.subnetIds.map((subnet) => ({ subnet, table: findTable(tables, subnet) }));
    return [
      await checkSubnets(placed, client),
      ...(await checkGroups(placed, client)),
      checkRoutes(routed, settings.allowRanges),
      ...(settings.network
        ? [checkEndpoints(routed, await readEndpoints(placed, client), settings, region)]
        : []),
    ];
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    if (/NotFound|Malformed/.test(name))
      return [about('network').red(message, 'Correct the ids in the stage.')];
    const next =
      'Permit ec2:DescribeSubnets, DescribeRouteTables, DescribeSecurityGroups and DescribeVpcEndpoints.';
    return [about('network').yellow(`The VPC cannot be read (${name}).`, next)];
  }
}

async function readTables({ vpcId }: Network, client: Pick<EC2Client, 'send'>): Promise<RouteTable[]> {
  const filter = { Filters: [{ Name: 'vpc-id', Values: [vpcId] }] };
  return (await client.send(new DescribeRouteTablesCommand(filter))).RouteTables ?? [];
}

async function readEndpoints({ vpcId }: Network, client: Pick<EC2Client, 'send'>): Promise<VpcEndpoint[]> {
  const filter = { Filters: [{ Name: 'vpc-id', Values: [vpcId] }] };
  return (await client.send(new DescribeVpcEndpointsCommand(filter))).VpcEndpoints ?? [];
}

/** Returns the table of a subnet, which is the main one if no table names the subnet. */
function findTable(tables: readonly RouteTable[], subnet: string): RouteTable | undefined {
  return (
    tables.find(({ Associations: each = [] }) => each.some(({ SubnetId: id }) => id === subnet)) ??
    tables.find(({ Associations: each = [] }) => each.some(({ Main: main }) => main))
  );
}

async function checkSubnets(
  { vpcId, subnetIds }: Network,
  client: Pick<EC2Client, 'send'>,
): Promise<PreflightResult> {
  const { Subnets: subnets = [] } = await client.send(new DescribeSubnetsCommand({ SubnetIds: subnetIds }));
  const foreign = subnets.filter(({ VpcId: id }) => id !== vpcId).map(({ SubnetId: id }) => id);
  if (foreign.length > 0)
    return about('network').red(`${foreign.join(', ')} is not in ${vpcId}.`, 'Name subnets of one VPC.');
  const zones = new Set(subnets.map(({ AvailabilityZone: zone }) => zone));
  const text = `${subnets.length} subnets in ${zones.size} availability zones.`;
  return zones.size > 1
    ? about('network').green(text)
    : about('network').yellow(text, 'Name subnets of two zones: checks end with theirs.');
}

async function checkGroups(
  { vpcId, securityGroupIds }: Network,
  client: Pick<EC2Client, 'send'>,
): Promise<PreflightResult[]> {
  if (securityGroupIds === undefined) return [];
  const { green, yellow, red } = about('security groups');
  const { SecurityGroups: groups = [] } = await client.send(
    new DescribeSecurityGroupsCommand({ GroupIds: securityGroupIds }),
  );
  const foreign = groups.filter(({ VpcId: id }) => id !== vpcId).map(({ GroupId: id }) => id);
  if (foreign.length > 0)
    return [red(`${foreign.join(', ')} is not in ${vpcId}.`, 'Name security groups of the VPC.')];
  const rules = groups.flatMap(({ IpPermissionsEgress: egress = [] }) => egress);
  if (rules.some(({ IpProtocol: protocol, IpRanges: to = [] }) => protocol === '-1' && to.some(isEverywhere)))
    return [green('They let all connections out.')];
  const next = 'Let TCP 443 out to AWS, and the ports and addresses of streams, receivers and RTP (UDP).';
  const finding = rules.length === 0 ? 'They let nothing out.' : 'They restrict what goes out.';
  return [rules.length === 0 ? red(finding, next) : yellow(finding, next)];
}

const isEverywhere = ({ CidrIp: range }: { CidrIp?: string | undefined }) => range === '0.0.0.0/0';

function listRoutes(table: RouteTable | undefined): Route[] {
  return (table?.Routes ?? []).filter(({ State: state }) => state !== 'blackhole');
}

function findDefault(table: RouteTable | undefined): Route | undefined {
  return listRoutes(table).find(({ DestinationCidrBlock: range }) => range === '0.0.0.0/0');
}

function checkRoutes(routed: readonly Routed[], allowRanges: readonly string[]): PreflightResult {
  const { green, red } = about('routes');
  for (const { subnet, table } of routed) {
    const out = findDefault(table);
    if (out?.GatewayId?.startsWith('igw-'))
      return red(
        `${subnet} leads to an internet gateway, and functions have no public address.`,
        'Name private subnets, whose route leads to a NAT gateway.',
      );
    if (out) continue;
    const ranges = listRoutes(table).flatMap(({ DestinationCidrBlock: range }) => range ?? []);
    const unreached = allowRanges.filter((range) => !ranges.some((each) => contains(each, range)));
    if (allowRanges.length === 0 || unreached.length > 0)
      return red(
        `${subnet} has no route to ${unreached.length > 0 ? unreached.join(', ') : 'streams and receivers'}.`,
        'Add a route to a NAT gateway, or to the network of the cameras, whose ranges are in allowRanges.',
      );
  }
  const isClosed = routed.some(({ table }) => !findDefault(table));
  const finding = isClosed
    ? `The subnets reach ${allowRanges.join(', ')} only: public streams and receivers fail.`
    : 'The subnets have a route out.';
  return green(finding);
}

/** Returns true if the range is within the other. */
function contains(outer: string, inner: string): boolean {
  const [outerBase, outerBits] = ipaddr.parseCIDR(outer);
  const [base, bits] = ipaddr.parseCIDR(inner);
  return outerBase.kind() === base.kind() && bits >= outerBits && base.match(outerBase, outerBits);
}

function checkEndpoints(
  routed: readonly Routed[],
  endpoints: readonly VpcEndpoint[],
  settings: Settings,
  region: string,
): PreflightResult {
  const { green, red } = about('endpoints');
  const closed = routed.filter(({ table }) => !findDefault(table));
  if (closed.length === 0) return green('AWS is reached by the route out; none is needed.');
  const { bedrockRegion = region } = settings;
  if (bedrockRegion !== region)
    return red(
      `The model in ${bedrockRegion} has no endpoint in ${region}.`,
      'Add a route to a NAT gateway, or choose a model of the region.',
    );
  const missing = listEndpoints(settings, region).filter(
    (name) => !closed.every(({ table }) => endpoints.some((each) => serves(each, name, table))),
  );
  if (missing.length === 0) return green('The subnets have all that they need.');
  return red(
    `Missing: ${missing.join(', ')}.`,
    'Create them in the VPC: gateways in the route tables of the subnets, the others with private DNS. Or add a route to a NAT gateway.',
  );
}

function serves(endpoint: VpcEndpoint, name: string, table: RouteTable | undefined): boolean {
  if (endpoint.ServiceName !== name || endpoint.State?.toLowerCase() !== 'available') return false;
  if (endpoint.VpcEndpointType !== 'Gateway') return endpoint.PrivateDnsEnabled === true;
  return endpoint.RouteTableIds?.includes(table?.RouteTableId ?? '') ?? false;
}
