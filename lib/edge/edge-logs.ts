import { Annotations, Stack } from 'aws-cdk-lib';
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { PrivateBucket } from '../storage/private-bucket.ts';
import { describeEdgeLogs, supportsEdgeLogs } from '../stages/region.ts';
import { globalName } from './edge-headers.ts';

const prefix = 'edge';

/**
 * Fields of a request (docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html):
 * neither its query string, which signs links to evidence, nor the page that it came from, nor cookies.
 */
const recordFields = [
  'date',
  'time',
  'x-edge-location',
  'c-ip',
  'cs-method',
  'x-host-header',
  'cs-uri-stem',
  'sc-status',
  'cs(User-Agent)',
  'x-edge-result-type',
  'x-edge-request-id',
  'cs-protocol-version',
  'sc-bytes',
  'cs-bytes',
  'time-taken',
];

/**
 * Access logs of CloudFront, standard logging (v2): the older kind has no choice of fields. Its resources exist in
 * us-east-1 only; for a stack in another region, which permits the delivery to its bucket, a command creates them.
 */
export class EdgeLogs extends Construct {
  constructor(scope: Construct, id: string, distribution: Distribution, bucket: PrivateBucket) {
    super(scope, id);
    const { account, partition, region } = Stack.of(this);
    const writing = bucket.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('delivery.logs.amazonaws.com')],
        actions: ['s3:PutObject'],
        resources: [bucket.arnForObjects(`${prefix}/*`)],
        conditions: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: { 'aws:SourceArn': `arn:${partition}:logs:us-east-1:${account}:delivery-source:*` },
        },
      }),
    );
    if (!supportsEdgeLogs(region)) {
      Annotations.of(this).addWarningV2('watchpost:edge-logs', describeEdgeLogs(region));
      return;
    }
    const name = globalName(this, 'edge');
    const source = new CfnDeliverySource(this, 'Source', {
      name,
      logType: 'ACCESS_LOGS',
      resourceArn: distribution.distributionArn,
    });
    const destination = new CfnDeliveryDestination(this, 'Destination', {
      name,
      outputFormat: 'w3c',
      destinationResourceArn: `${bucket.bucketArn}/${prefix}`,
    });
    if (writing.policyDependable) destination.node.addDependency(writing.policyDependable);
    const delivery = new CfnDelivery(this, 'Delivery', {
      deliverySourceName: name,
      deliveryDestinationArn: destination.attrArn,
      recordFields,
    });
    delivery.addDependency(source);
  }
}
