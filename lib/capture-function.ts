import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { keyPrefixes } from '../adapters/aws/dynamodb/table-layout.ts';
import type { CaptureEnvironment } from '../functions/capture/config.ts';
import { FfmpegLayer, folderBytes, mostUnzippedBytes } from './ffmpeg-layer.ts';
import { allowPictures, allowReadingItems } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import type { FunctionGround, OwnEnvironment } from './service-function.ts';

type Props = { table: Table; pictures: Bucket; forDeployment: boolean };

/**
 * Fetches and decodes what strangers send. It may read a stream's URL by its random id and put pictures away, nothing else; and a secret with
 * accounts and proxies for platforms, where the operator takes the risk (docs/platforms.md).
 */
export class CaptureFunction extends Construct {
  readonly function: ServiceFunction;

  constructor(
    scope: Construct,
    id: string,
    ground: FunctionGround,
    { table, pictures, forDeployment }: Props,
  ) {
    super(scope, id);
    const { architecture, allowRanges, ffmpegPath, youtubeClients, platformSecretArn } = ground.settings;
    const environment: OwnEnvironment<CaptureEnvironment> = {
      TABLE_NAME: table.tableName,
      MEDIA_BUCKET: pictures.bucketName,
      ALLOW_RANGES: allowRanges.join(','),
      FFMPEG_PATH: ffmpegPath ?? '/opt/bin/ffmpeg',
      YOUTUBE_CLIENTS: youtubeClients?.join(','),
      PLATFORM_SECRET_ARN: platformSecretArn,
    };
    const layer = ffmpegPath
      ? undefined
      : new FfmpegLayer(this, 'Ffmpeg', { architecture, required: forDeployment });
    this.function = new ServiceFunction(this, 'Capture', ground, {
      name: 'capture',
      // 1,769 MB are one whole core (Lambda's guide), which decoding a clip needs to be done before the next tick.
      memoryMegabytes: 1769,
      // Above a capture's own 50 s, below the 60 s of the workflow's task.
      timeoutSeconds: 58,
      environment,
      ...(layer && { layers: [layer.layer] }),
    });
    if (layer) refuseTooLarge(layer.unzippedBytes + folderBytes(`${ground.bundles}/capture`));
    allowReadingItems(this.function, table, keyPrefixes.source);
    allowPictures(this.function, pictures, ['s3:PutObject']);
    if (platformSecretArn) this.function.allow(['secretsmanager:GetSecretValue'], [platformSecretArn]);
  }
}

function refuseTooLarge(bytes: number): void {
  if (bytes > mostUnzippedBytes)
    throw new Error(`capture and its layer unzip to ${bytes} bytes; Lambda takes ${mostUnzippedBytes}`);
}
