import { supportsEdgeLogs } from '../../stages/region.ts';
import { newEventBus, type StageSettings } from '../../stages/stage-settings.ts';

type Stage = Pick<
  StageSettings,
  | 'streamOrigin'
  | 'fixedEgress'
  | 'network'
  | 'parameterPath'
  | 'eventBus'
  | 'requestsPerAddress'
  | 'alarmEmail'
  | 'alarmTopicArn'
  | 'accessLogs'
> & { region?: string | undefined };
type Entry = { actions: readonly string[]; when?: (stage: Stage) => boolean };

const isRestOrigin = ({ streamOrigin }: Stage) => streamOrigin === 'rest-api';
const hasOwnTopic = ({ alarmTopicArn }: Stage) => alarmTopicArn === undefined;
const hasEdgeLogs = ({ accessLogs, region }: Stage) =>
  accessLogs && region !== undefined && supportsEdgeLogs(region);
const hasNewVpc = ({ fixedEgress }: Stage) => fixedEgress === 'new-vpc';

/**
 * Actions that create a resource of each type, by the Service Authorization Reference. A test compares the types with
 * the templates of all kinds of stages. `when` says which stages have the type; absent for all.
 */
const actionsByType: Readonly<Record<string, Entry>> = {
  'AWS::ApiGateway::Deployment': { actions: ['apigateway:POST'], when: isRestOrigin },
  'AWS::ApiGateway::GatewayResponse': { actions: ['apigateway:PUT'], when: isRestOrigin },
  'AWS::ApiGateway::Method': { actions: ['apigateway:PUT'], when: isRestOrigin },
  'AWS::ApiGateway::Resource': { actions: ['apigateway:POST'], when: isRestOrigin },
  'AWS::ApiGateway::RestApi': { actions: ['apigateway:POST'], when: isRestOrigin },
  'AWS::ApiGateway::Stage': { actions: ['apigateway:POST'], when: isRestOrigin },
  'AWS::ApiGatewayV2::Api': { actions: ['apigateway:POST'] },
  'AWS::ApiGatewayV2::Integration': { actions: ['apigateway:POST'] },
  'AWS::ApiGatewayV2::Route': { actions: ['apigateway:POST'] },
  'AWS::ApiGatewayV2::Stage': { actions: ['apigateway:POST', 'logs:CreateLogDelivery'] },
  'AWS::CloudFront::Distribution': { actions: ['cloudfront:CreateDistribution'] },
  'AWS::CloudFront::Function': { actions: ['cloudfront:CreateFunction', 'cloudfront:PublishFunction'] },
  'AWS::CloudFront::OriginAccessControl': { actions: ['cloudfront:CreateOriginAccessControl'] },
  'AWS::CloudFront::ResponseHeadersPolicy': { actions: ['cloudfront:CreateResponseHeadersPolicy'] },
  'AWS::CloudWatch::Alarm': { actions: ['cloudwatch:PutMetricAlarm'] },
  'AWS::CloudWatch::Dashboard': { actions: ['cloudwatch:PutDashboard'] },
  'AWS::DynamoDB::Table': { actions: ['dynamodb:CreateTable', 'dynamodb:UpdateContinuousBackups'] },
  'AWS::EC2::EIP': { actions: ['ec2:AllocateAddress'], when: hasNewVpc },
  'AWS::EC2::InternetGateway': { actions: ['ec2:CreateInternetGateway'], when: hasNewVpc },
  'AWS::EC2::NatGateway': { actions: ['ec2:CreateNatGateway'], when: hasNewVpc },
  'AWS::EC2::Route': { actions: ['ec2:CreateRoute'], when: hasNewVpc },
  'AWS::EC2::RouteTable': { actions: ['ec2:CreateRouteTable'], when: hasNewVpc },
  'AWS::EC2::SecurityGroup': {
    actions: ['ec2:CreateSecurityGroup'],
    when: ({ fixedEgress, network }) =>
      fixedEgress !== undefined || (network !== undefined && network.securityGroupIds === undefined),
  },
  'AWS::EC2::Subnet': { actions: ['ec2:CreateSubnet'], when: hasNewVpc },
  'AWS::EC2::SubnetRouteTableAssociation': { actions: ['ec2:AssociateRouteTable'], when: hasNewVpc },
  'AWS::EC2::VPC': { actions: ['ec2:CreateVpc'], when: hasNewVpc },
  'AWS::EC2::VPCEndpoint': { actions: ['ec2:CreateVpcEndpoint'], when: hasNewVpc },
  'AWS::EC2::VPCGatewayAttachment': { actions: ['ec2:AttachInternetGateway'], when: hasNewVpc },
  'AWS::Events::EventBus': {
    actions: ['events:CreateEventBus'],
    when: ({ eventBus }) => eventBus === newEventBus,
  },
  'AWS::Events::Rule': { actions: ['events:PutRule', 'events:PutTargets'] },
  'AWS::IAM::Policy': { actions: ['iam:PutRolePolicy'] },
  'AWS::IAM::Role': { actions: ['iam:CreateRole', 'iam:AttachRolePolicy', 'iam:PassRole'] },
  'AWS::Lambda::Alias': { actions: ['lambda:CreateAlias'] },
  'AWS::Lambda::EventInvokeConfig': { actions: ['lambda:PutFunctionEventInvokeConfig'] },
  'AWS::Lambda::EventSourceMapping': { actions: ['lambda:CreateEventSourceMapping'] },
  'AWS::Lambda::Function': { actions: ['lambda:CreateFunction'] },
  'AWS::Lambda::LayerVersion': { actions: ['lambda:PublishLayerVersion'] },
  'AWS::Lambda::Permission': { actions: ['lambda:AddPermission'] },
  'AWS::Lambda::Url': {
    actions: ['lambda:CreateFunctionUrlConfig'],
    when: ({ streamOrigin }) => streamOrigin === 'function-url',
  },
  'AWS::Lambda::Version': { actions: ['lambda:PublishVersion'] },
  'AWS::Logs::Delivery': { actions: ['logs:CreateDelivery'], when: hasEdgeLogs },
  'AWS::Logs::DeliveryDestination': { actions: ['logs:PutDeliveryDestination'], when: hasEdgeLogs },
  'AWS::Logs::DeliverySource': {
    actions: ['logs:PutDeliverySource', 'cloudfront:AllowVendedLogDeliveryForResource'],
    when: hasEdgeLogs,
  },
  'AWS::Logs::LogGroup': { actions: ['logs:CreateLogGroup', 'logs:PutRetentionPolicy'] },
  'AWS::S3::Bucket': { actions: ['s3:CreateBucket', 's3:PutBucketPublicAccessBlock'] },
  'AWS::S3::BucketPolicy': { actions: ['s3:PutBucketPolicy'] },
  'AWS::SNS::Subscription': {
    actions: ['sns:Subscribe'],
    when: ({ alarmEmail }) => alarmEmail !== undefined,
  },
  'AWS::SNS::Topic': { actions: ['sns:CreateTopic'], when: hasOwnTopic },
  'AWS::SNS::TopicPolicy': { actions: ['sns:SetTopicAttributes'], when: hasOwnTopic },
  'AWS::SQS::Queue': { actions: ['sqs:CreateQueue'] },
  'AWS::SQS::QueuePolicy': { actions: ['sqs:SetQueueAttributes'] },
  'AWS::SecretsManager::Secret': {
    actions: ['secretsmanager:CreateSecret', 'secretsmanager:GetRandomPassword'],
  },
  'AWS::SSM::Parameter': {
    actions: ['ssm:PutParameter'],
    when: ({ parameterPath }) => parameterPath !== undefined,
  },
  'AWS::StepFunctions::StateMachine': { actions: ['states:CreateStateMachine'] },
  'AWS::WAFv2::WebACL': {
    actions: ['wafv2:CreateWebACL'],
    when: ({ requestsPerAddress }) => requestsPerAddress !== undefined,
  },
};

export function listResourceTypes(stage: Stage): string[] {
  return Object.keys(actionsByType).filter((type) => actionsByType[type]?.when?.(stage) ?? true);
}

export function listActions(stage: Stage): string[] {
  const all = listResourceTypes(stage).flatMap((type) => actionsByType[type]?.actions ?? []);
  return [...new Set(all)].toSorted();
}

/** Returns true for an action whose requests go to us-east-1, wherever the stack is. */
export function isGlobalAction(action: string): boolean {
  return /^(iam|cloudfront|wafv2):/.test(action);
}
