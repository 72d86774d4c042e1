import { Validations } from 'aws-cdk-lib';
import {
  CfnEIP,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  NatProvider,
  SecurityGroup,
  Subnet,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import type { ISecurityGroup, ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { StageSettings } from '../stages/stage-settings.ts';

type Given = NonNullable<StageSettings['fixedEgress'] | StageSettings['network']>;

/** Range of the VPC that the stack creates: 64 addresses for each of four subnets. */
const newVpcRange = '10.213.0.0/24';

/** Network of functions whose connections leave from stable addresses. */
export class EgressNetwork extends Construct {
  readonly vpc: IVpc;
  readonly subnets: ISubnet[];
  readonly securityGroups: ISecurityGroup[];
  /** Ranges inside of the network, which streams and webhooks may not use. */
  readonly ranges: readonly string[];
  readonly address: string | undefined;

  constructor(scope: Construct, id: string, given: Given) {
    super(scope, id);
    const { vpcId, subnetIds, ranges, address } =
      given === 'new-vpc' ? this.#createVpc() : { ...given, address: undefined };
    this.address = address;
    this.vpc = Vpc.fromVpcAttributes(this, 'Network', {
      vpcId,
      // Not used: the subnets are named.
      availabilityZones: subnetIds.map((_, index) => `zone-${index}`),
      privateSubnetIds: subnetIds,
    });
    this.subnets = subnetIds.map((subnetId, index) => Subnet.fromSubnetId(this, `Subnet${index}`, subnetId));
    this.ranges = ranges;
    const named = given !== 'new-vpc' && 'securityGroupIds' in given ? given.securityGroupIds : undefined;
    this.securityGroups = named
      ? named.map((each, index) => SecurityGroup.fromSecurityGroupId(this, `SecurityGroup${index}`, each))
      : [this.#createSecurityGroup()];
  }

  /** Returns the properties of a function in the network. */
  get placement() {
    return { vpc: this.vpc, vpcSubnets: { subnets: this.subnets }, securityGroups: this.securityGroups };
  }

  #createSecurityGroup(): SecurityGroup {
    return new SecurityGroup(this, 'SecurityGroup', {
      vpc: this.vpc,
      description: 'Watchpost: connections to streams and receivers, none from outside',
      // Streams use any port.
      allowAllOutbound: true,
    });
  }

  #createVpc() {
    const address = new CfnEIP(this, 'Address', { domain: 'vpc' });
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr(newVpcRange),
      maxAzs: 2,
      natGateways: 1,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: [address.attrAllocationId] }),
      subnetConfiguration: [
        { name: 'Public', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
      // Nothing uses the default group, and its restriction would need a custom resource.
      restrictDefaultSecurityGroup: false,
      // Captures and reads of the table pass without the price of the NAT gateway.
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    Validations.of(vpc).acknowledge({
      id: 'AwsSolutions-VPC7',
      reason:
        'Flow logs cost per connection; the functions log each connection that fails, and the VPC contains nothing else.',
    });
    return {
      vpcId: vpc.vpcId,
      subnetIds: vpc.privateSubnets.map(({ subnetId }) => subnetId),
      ranges: [newVpcRange],
      address: address.ref,
    };
  }
}
