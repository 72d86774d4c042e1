import { Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

type Props = Omit<BucketProps, 'serverAccessLogsBucket' | 'serverAccessLogsPrefix'> & {
  /** Undefined for a stage without; left out for the bucket of the logs itself. */
  accessLogs?: { bucket: PrivateBucket; prefix: string } | undefined;
};

/** A bucket that nobody outside of the account reads, over TLS only. */
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

  /** Never undefined, as `IBucket` wants it under our compiler's settings. */
  override get isWebsite(): boolean {
    return false;
  }
}

/** For buckets of a stage that keeps no access logs. */
export function explainNoAccessLogs(bucket: PrivateBucket): void {
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'The stage sets accessLogs to false.',
  });
}
