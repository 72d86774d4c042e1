import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { keptOrDestroyed } from './kept-or-destroyed.ts';
import { suppressAccessLogFindings, PrivateBucket } from './private-bucket.ts';

type Props = { keepData: boolean; accessLogs: PrivateBucket | undefined };

/** Bucket of frames and clips, which expire after a day. Only functions read it; callers use the API. */
export class MediaBucket extends Construct {
  /** Prefix of all keys (`core/workflow/capture-tick.ts`). */
  static readonly prefix = 'captures/';
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { keepData, accessLogs }: Props) {
    super(scope, id);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      lifecycleRules: [
        { expiration: Duration.days(1), abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
      removalPolicy: keptOrDestroyed(keepData),
      autoDeleteObjects: !keepData,
      accessLogs: accessLogs && { bucket: accessLogs, prefix: 'media/' },
    });
    if (!accessLogs) suppressAccessLogFindings(this.bucket);
  }
}
