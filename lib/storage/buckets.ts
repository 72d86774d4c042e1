import { Validations, RemovalPolicy, Duration } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { computeMediaSeconds } from '../../core/workflow/tick-media.ts';
import { keptFolders } from '../../core/policies/watch/evidence.ts';
import type { StageSettings } from '../stages/stage-settings.ts';
import { serviceKey } from './service-key.ts';

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

type MediaProps = {
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

  constructor(scope: Construct, id: string, { settings, accessLogs }: MediaProps) {
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
