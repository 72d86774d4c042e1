import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { beforeEach, expect, test } from 'vitest';
import { FfmpegLayer } from '../../lib/ffmpeg-layer.ts';

let folder: string;
let stack: Stack;
const aboutPlaceholder = Match.stringLikeRegexp('npm run layer');

beforeEach(() => {
  folder = `${mkdtempSync(join(tmpdir(), 'watchpost-layer-'))}/`;
  mkdirSync(join(folder, 'placeholder'));
  writeFileSync(join(folder, 'placeholder/README.md'), 'Nothing yet');
  stack = new Stack(new App(), 'Stack');
});

test('FfmpegLayer uses a placeholder with a warning if the layer is not built', () => {
  const { unzippedBytes } = new FfmpegLayer(stack, 'Layer', {
    architecture: 'arm64',
    required: false,
    folder,
  });
  expect(unzippedBytes).toBe(11);
  expect(Annotations.fromStack(stack).findWarning('*', aboutPlaceholder)).toHaveLength(1);
});

test('FfmpegLayer reports an error for a placeholder in a deployment', () => {
  new FfmpegLayer(stack, 'Layer', { architecture: 'arm64', required: true, folder });
  expect(Annotations.fromStack(stack).findError('*', aboutPlaceholder)).toHaveLength(1);
});

test('FfmpegLayer uses a built layer only for its architecture', () => {
  mkdirSync(join(folder, 'dist/x86_64/bin'), { recursive: true });
  writeFileSync(join(folder, 'dist/x86_64/bin/ffmpeg'), Buffer.alloc(1000));
  const built = new FfmpegLayer(stack, 'Built', { architecture: 'x86_64', required: true, folder });
  expect(built.unzippedBytes).toBe(1000);
  expect(Annotations.fromStack(stack).findError('*', Match.anyValue())).toEqual([]);
  expect(
    new FfmpegLayer(stack, 'Other', { architecture: 'arm64', required: false, folder }).unzippedBytes,
  ).toBe(11);
});
