import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { keyPrefixes } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { CaptureEnvironment } from '../../functions/capture/config.ts';
import type { EgressNetwork } from '../delivery/egress-network.ts';
import { FfmpegLayer, folderBytes, maxUnzippedBytes } from './ffmpeg-layer.ts';
import { allowMedia, allowMotionReferences, allowReadingItems } from '../function/permissions.ts';
import { ServiceFunction, type FunctionContext, type OwnEnvironment } from '../function/service-function.ts';

type Props = {
  table: Table;
  pictures: Bucket;
  forDeployment: boolean;
  network: EgressNetwork | undefined;
  /** Layer of the app. Undefined for the built one. */
  layer: ILayerVersion | undefined;
};

/**
 * Function that fetches and decodes untrusted media. Its role may read `SOURCE#` items and motion references, and write
 * captures. With `platformSecretArn` it may also read that secret (risk: docs/operate/configuration.md). Throws if code
 * and layer exceed Lambda's limit.
 */
export class CaptureFunction extends Construct {
  readonly function: ServiceFunction;

  constructor(
    scope: Construct,
    id: string,
    context: FunctionContext,
    { table, pictures, forDeployment, network, layer: ofApp }: Props,
  ) {
    super(scope, id);
    const { architecture, allowRanges, ffmpegPath, youtubeClients, platformSecretArn } = context.settings;
    const environment: OwnEnvironment<CaptureEnvironment> = {
      TABLE_NAME: table.tableName,
      MEDIA_BUCKET: pictures.bucketName,
      ALLOW_RANGES: allowRanges.join(','),
      DENY_RANGES: network?.ranges.join(','),
      FFMPEG_PATH: ffmpegPath ?? '/opt/bin/ffmpeg',
      YOUTUBE_CLIENTS: youtubeClients?.join(','),
      PLATFORM_SECRET_ARN: platformSecretArn,
    };
    const layer =
      (ffmpegPath ?? ofApp)
        ? undefined
        : new FfmpegLayer(this, 'Ffmpeg', { architecture, required: forDeployment });
    this.function = new ServiceFunction(this, 'Capture', context, {
      name: 'capture',
      // 1,769 MB provide one core (Lambda guide). With less, decoding a clip takes longer than a tick.
      memoryMegabytes: 1769,
      // More than the 50 s of a capture, less than the 60 s of the workflow's task.
      timeoutSeconds: 58,
      environment,
      network,
      layers: [layer?.layer ?? ofApp].filter((each) => each !== undefined),
    });
    if (layer) assertUnzippedSize(layer.unzippedBytes + folderBytes(`${context.bundles}/capture`));
    allowReadingItems(this.function, table, keyPrefixes.source);
    allowMedia(this.function, pictures, ['s3:PutObject']);
    allowMotionReferences(this.function, pictures);
    if (platformSecretArn) this.function.allow(['secretsmanager:GetSecretValue'], [platformSecretArn]);
  }
}

function assertUnzippedSize(bytes: number): void {
  if (bytes > maxUnzippedBytes)
    throw new Error(
      `capture and its layer unzip to ${bytes} bytes; the limit of Lambda is ${maxUnzippedBytes}`,
    );
}
