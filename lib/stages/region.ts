/**
 * Returns true for the region in which CloudFront's logs with a choice of fields can be set up
 * (docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logging.html).
 */
export function supportsEdgeLogs(region: string): boolean {
  return region === 'us-east-1';
}

/** Says what a stack in another region lacks, and how it is set up. */
export function describeEdgeLogs(region: string): string {
  return `Logs of CloudFront without query strings, which sign links to evidence, can be set up in us-east-1 only, not in ${region}. docs/operate/aws.md, "Logs of CloudFront", has the commands.`;
}

/** Regions without function URLs (docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html, November 2026). */
const regionsWithoutUrls: ReadonlySet<string> = new Set([
  'ap-east-2',
  'ap-south-2',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-6',
  'ap-southeast-7',
  'ca-west-1',
  'eu-central-2',
  'eu-south-2',
  'il-central-1',
  'me-central-1',
]);

export function hasFunctionUrls(region: string): boolean {
  return !regionsWithoutUrls.has(region);
}

/**
 * Throws for a stage whose origin of event streams its region does not have: CloudFormation would only name a resource
 * type.
 */
export function assertStreamOrigin(
  { streamOrigin }: { streamOrigin: 'function-url' | 'rest-api' },
  region: string,
): void {
  if (streamOrigin === 'function-url' && !hasFunctionUrls(region))
    throw new Error(`Lambda has no function URLs in ${region}. Set "streamOrigin": "rest-api" in the stage.`);
}

const regional = ['alarmTopicArn', 'smtpSecretArn', 'platformSecretArn'] as const;

/** Finds a setting that names a resource of another region, which the clients of the functions do not reach. */
export function findForeignRegion(
  settings: Partial<Record<(typeof regional)[number], string | undefined>>,
  region: string,
): string | undefined {
  for (const name of regional) {
    const setting = settings[name];
    const [, other = region] = /^arn:aws[\w-]*:\w+:([a-z0-9-]+):/.exec(setting ?? '') ?? [];
    if (other !== region) return `${name} is in ${other}, and the stack in ${region}. Name one of ${region}.`;
  }
  return undefined;
}

/** Throws for a setting that names a resource of another region. */
export function assertArnRegions(
  path: string,
  settings: Parameters<typeof findForeignRegion>[0],
  region: string,
): void {
  const foreign = findForeignRegion(settings, region);
  if (foreign !== undefined) throw new Error(`${path}: ${foreign}`);
}

/**
 * Throws for a region of another partition than `aws`: GovCloud and China have no CloudFront that CloudFormation could
 * create there.
 */
export function assertSupportedRegion(region: string): void {
  if (/^(cn|us-gov|us-iso\w*|eu-isoe|eusc)-/.test(region))
    throw new Error(
      `A stack in ${region} is not possible: it needs CloudFront, which AWS GovCloud, China and other separate partitions do not offer to CloudFormation. Choose a region of the partition aws, such as us-east-1.`,
    );
}
