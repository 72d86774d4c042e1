import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

/** A bucket that nobody outside of the account reads, over TLS only. */
export class PrivateBucket extends Bucket {
  /** Never undefined, as `IBucket` wants it under our compiler's settings. */
  override get isWebsite(): boolean {
    return false;
  }

  constructor(scope: Construct, id: string, props: BucketProps) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      ...props,
    });
  }
}
