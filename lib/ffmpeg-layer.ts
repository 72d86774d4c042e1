import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Annotations } from 'aws-cdk-lib';
import { Architecture, Code, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StageSettings } from './stage/stage-settings.ts';

type Props = {
  architecture: StageSettings['architecture'];
  /** A placeholder is an error then, not a warning: what is deployed must be able to look. */
  required: boolean;
  /** With `dist/<architecture>` and `placeholder` in it. */
  folder?: string;
};

const layerFolder = fileURLToPath(new URL('../layers/ffmpeg/', import.meta.url));

/** Of a function and its layers together (Lambda quotas). */
export const mostUnzippedBytes = 262_144_000;

/** ffmpeg for `capture`, at `/opt/bin/ffmpeg`. Built by `npm run layer`; a clone without it is synthesized with a placeholder. */
export class FfmpegLayer extends Construct {
  readonly layer: LayerVersion;
  readonly unzippedBytes: number;

  constructor(scope: Construct, id: string, { architecture, required, folder = layerFolder }: Props) {
    super(scope, id);
    const built = `${folder}dist/${architecture}`;
    const isBuilt = existsSync(`${built}/bin/ffmpeg`);
    const source = isBuilt ? built : `${folder}placeholder`;
    if (!isBuilt) this.#tellOfPlaceholder(required);
    this.unzippedBytes = folderBytes(source);
    this.layer = new LayerVersion(this, 'Layer', {
      code: Code.fromAsset(source),
      compatibleArchitectures: [architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64],
      description: 'ffmpeg, as published by ffmpeg-static',
      license: 'GPL-3.0-or-later',
    });
  }

  #tellOfPlaceholder(required: boolean): void {
    const message = 'The ffmpeg layer is not built; the template has a placeholder. Run: npm run layer';
    if (required) Annotations.of(this).addError(message);
    else Annotations.of(this).addWarningV2('watchpost:ffmpeg-layer', message);
  }
}

export function folderBytes(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(`${path}/${name}`))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}
