import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { evidenceDays } from '../core/watch/evidence.ts';
import { toRemovalPolicy } from './removal-policy.ts';
import { suppressAccessLogFindings, PrivateBucket } from './private-bucket.ts';

type Props = { keepData: boolean; accessLogs: PrivateBucket | undefined };

/** Bucket of frames and clips, which expire after a day, and of evidence, which expires by its prefix. Only functions read it; callers use the API. */
export class MediaBucket extends Construct {
  /** Prefix of captures (`core/workflow/capture-tick.ts`). */
  static readonly prefix = 'captures/';
  /** Prefix of the evidence of watches (`core/watch/evidence.ts`). */
  static readonly evidencePrefix = 'evidence/';
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { keepData, accessLogs }: Props) {
    super(scope, id);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      lifecycleRules: [
        { abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { prefix: MediaBucket.prefix, expiration: Duration.days(1) },
        ...evidenceDays.map((days) => ({
          prefix: `${MediaBucket.evidencePrefix}${days}/`,
          expiration: Duration.days(days),
        })),
      ],
      removalPolicy: toRemovalPolicy(keepData),
      autoDeleteObjects: !keepData,
      accessLogs: accessLogs && { bucket: accessLogs, prefix: 'media/' },
    });
    if (!accessLogs) suppressAccessLogFindings(this.bucket);
  }
}
