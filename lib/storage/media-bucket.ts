import { Duration } from 'aws-cdk-lib';
import { BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { computeMediaSeconds } from '../../core/workflow/tick-media.ts';
import { keptFolders } from '../../core/policies/watch/evidence.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { serviceKey } from './service-key.ts';
import { PrivateBucket, suppressAccessLogFindings, toRemovalPolicy } from './private-bucket.ts';

type Props = {
  settings: Pick<StageSettings, 'keepData' | 'retentionSeconds' | 'modelGraceSeconds'>;
  accessLogs: PrivateBucket | undefined;
};

/**
 * Bucket of frames and clips, which expire once no job refers to them, and of evidence, which expires by its prefix.
 * Only functions read it; callers use the API.
 */
export class MediaBucket extends Construct {
  /** Prefix of captures (`core/workflow/capture-tick.ts`). */
  static readonly prefix = 'captures/';
  /** Prefix of the evidence of watches (`core/policies/watch/evidence.ts`). */
  static readonly evidencePrefix = 'evidence/';
  /** Prefix of the judged pictures that watches remember. */
  static readonly momentPrefix = 'moments/';
  static readonly clipPrefix = 'clips/';
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { settings, accessLogs }: Props) {
    const { keepData } = settings;
    const days = Math.ceil(computeMediaSeconds(settings) / 86_400);
    super(scope, id);
    const key = serviceKey(this);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      ...(key && { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
      lifecycleRules: [
        { abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { prefix: MediaBucket.prefix, expiration: Duration.days(days) },
        ...keptFolders.map(({ folder, days: kept }) => ({
          prefix: `${folder}/${kept}/`,
          expiration: Duration.days(kept),
        })),
      ],
      removalPolicy: toRemovalPolicy(keepData),
      autoDeleteObjects: !keepData,
      accessLogs: accessLogs && { bucket: accessLogs, prefix: 'media/' },
    });
    if (!accessLogs) suppressAccessLogFindings(this.bucket);
  }
}
