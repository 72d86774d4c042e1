import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { toRemovalPolicy } from '../storage/removal-policy.ts';
import { PrivateBucket } from '../storage/private-bucket.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

type Props = Pick<StageSettings, 'logDays' | 'keepData'>;

/** Bucket with the access logs of CloudFront and S3; objects expire after `logDays`. */
export class AccessLogs extends Construct {
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { logDays, keepData }: Props) {
    super(scope, id);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      lifecycleRules: [{ expiration: Duration.days(logDays) }],
      removalPolicy: toRemovalPolicy(keepData),
      autoDeleteObjects: !keepData,
    });
  }
}
