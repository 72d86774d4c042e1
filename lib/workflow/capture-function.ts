import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { type ILayerVersion, Architecture, Code, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { keyPrefixes } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { CaptureEnvironment } from '../../functions/capture/config.ts';
import type { EgressNetwork } from '../delivery/egress-network.ts';
import { allowMedia, allowMotionReferences, allowReadingItems } from '../function/permissions.ts';
import { ServiceFunction, type FunctionContext, type OwnEnvironment } from '../function/service-function.ts';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { Annotations } from 'aws-cdk-lib';
import { projectFolder } from '../files.ts';
import { checksumsSchema } from '../../layers/ffmpeg/build-layer.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

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

type LayerProps = {
  architecture: StageSettings['architecture'];
  /** True for a deployment: a placeholder is then an error instead of a warning, and so is an unconfirmed binary. */
  required: boolean;
  /** Folder that contains `dist/<architecture>` and `placeholder`, with a trailing slash. */
  folder?: string;
};

const layerFolder = `${projectFolder}layers/ffmpeg/`;

/** Maximum unzipped size of a function with its layers, in bytes (Lambda quotas). */
const maxUnzippedBytes = 262_144_000;

/**
 * Layer with `/opt/bin/ffmpeg` for `capture`, built by `npm run layer`. Without a build the stack contains a
 * placeholder.
 */
export class FfmpegLayer extends Construct {
  readonly layer: LayerVersion;
  readonly unzippedBytes: number;

  constructor(scope: Construct, id: string, { architecture, required, folder = layerFolder }: LayerProps) {
    super(scope, id);
    const built = `${folder}dist/${architecture}`;
    const isBuilt = existsSync(`${built}/bin/ffmpeg`);
    const source = isBuilt ? built : `${folder}placeholder`;
    if (!isBuilt) this.#reportPlaceholder(required);
    else if (required) this.#requireConfirmed(`${built}/bin/ffmpeg`, `${folder}checksums.json`, architecture);
    this.unzippedBytes = folderBytes(source);
    this.layer = new LayerVersion(this, 'Layer', {
      code: Code.fromAsset(source),
      compatibleArchitectures: [architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64],
      description: 'ffmpeg; share/ffmpeg/origin.json names its origin',
      license: 'GPL-3.0-or-later',
    });
  }

  /** Reports an error for a binary whose checksum nobody has confirmed, however it came into the folder. */
  #requireConfirmed(binary: string, checksumsFile: string, architecture: string): void {
    const sha256 = createHash('sha256').update(readFileSync(binary)).digest('hex');
    const recorded = checksumsSchema.parse(
      existsSync(checksumsFile) ? JSON.parse(readFileSync(checksumsFile, 'utf8')) : {},
    );
    if (Object.values(recorded).some((release) => release[architecture] === sha256)) return;
    Annotations.of(this).addError(
      `The checksum of the ffmpeg layer for ${architecture} is not confirmed: sha256 ${sha256}. Remove layers/ffmpeg/dist and run: npm run layer -- ${architecture}. For a binary that you built, add {"own": {"${architecture}": "${sha256}"}} to layers/ffmpeg/checksums.json.`,
    );
  }

  #reportPlaceholder(required: boolean): void {
    const message =
      'The ffmpeg layer is not built; the template contains a placeholder. Run: npm run deploy, or npm run layer';
    if (required) Annotations.of(this).addError(message);
    else Annotations.of(this).addWarningV2('watchpost:ffmpeg-layer', message);
  }
}

/** Returns the total size of the files in a folder, in bytes. */
function folderBytes(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(`${path}/${name}`))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}
