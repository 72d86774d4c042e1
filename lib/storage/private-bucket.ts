import { Validations, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

type Props = Omit<BucketProps, 'serverAccessLogsBucket' | 'serverAccessLogsPrefix'> & {
  /** Target of access logs. Undefined if the stage has none, and for the log bucket itself. */
  accessLogs?: { bucket: PrivateBucket; prefix: string } | undefined;
};

/** Bucket without public access, over TLS only. */
export class PrivateBucket extends Bucket {
  constructor(scope: Construct, id: string, { accessLogs, ...props }: Props) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      ...props,
      ...(accessLogs && {
        serverAccessLogsBucket: accessLogs.bucket,
        serverAccessLogsPrefix: accessLogs.prefix,
      }),
    });
  }

  /** Never undefined: `IBucket` requires a boolean with `exactOptionalPropertyTypes`. */
  override get isWebsite(): boolean {
    return false;
  }
}

/** Acknowledges the finding of a bucket without access logs, for stages that disable them. */
export function suppressAccessLogFindings(bucket: PrivateBucket): void {
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'The stage sets accessLogs to false.',
  });
}

/**
 * Returns the removal policy of stored data. With `keepData`, data outlive the stack, but not a failed first
 * deployment: its empty resources would block the next attempt.
 */
export function toRemovalPolicy(keepData: boolean): RemovalPolicy {
  return keepData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
