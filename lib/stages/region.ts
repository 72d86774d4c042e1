/**
 * Regions that every account can use without an opt-in (docs.aws.amazon.com/accounts/latest/reference/manage-acct-regions.html). CloudFront
 * delivers its access logs to buckets in these regions only
 * (docs.aws.amazon.com/solutions/latest/dynamic-image-transformation-for-amazon-cloudfront/opt-in-regions.html).
 */
const regionsWithEdgeLogs: ReadonlySet<string> = new Set([
  'ap-northeast-1',
  'ap-northeast-2',
  'ap-northeast-3',
  'ap-south-1',
  'ap-southeast-1',
  'ap-southeast-2',
  'ca-central-1',
  'eu-central-1',
  'eu-north-1',
  'eu-west-1',
  'eu-west-2',
  'eu-west-3',
  'sa-east-1',
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
]);

/** Returns true if CloudFront can deliver access logs to a bucket in a region. */
export function supportsEdgeLogs(region: string): boolean {
  return regionsWithEdgeLogs.has(region);
}

/** Throws for a region of another partition than `aws`: GovCloud and China have no CloudFront that CloudFormation could create there. */
export function assertSupportedRegion(region: string): void {
  if (/^(cn|us-gov|us-iso\w*|eu-isoe|eusc)-/.test(region))
    throw new Error(
      `A stack in ${region} is not possible: it needs CloudFront, which AWS GovCloud, China and other separate partitions do not offer to CloudFormation. Choose a region of the partition aws, such as us-east-1.`,
    );
}
