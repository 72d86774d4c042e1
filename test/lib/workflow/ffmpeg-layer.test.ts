import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { beforeEach, expect, test } from 'vitest';
import { FfmpegLayer } from '../../../lib/workflow/capture-function.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

let folder: string;
let stack: Stack;
const aboutPlaceholder = Match.stringLikeRegexp('npm run layer');

beforeEach(() => {
  folder = `${folderOfTest()}/`;
  mkdirSync(join(folder, 'placeholder'));
  writeFileSync(join(folder, 'placeholder/README.md'), 'Nothing yet');
  stack = new Stack(new App({ outdir: join(folder, 'cdk.out') }), 'Stack');
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

test('FfmpegLayer reports an error for a binary in a deployment whose checksum is not confirmed', () => {
  mkdirSync(join(folder, 'dist/arm64/bin'), { recursive: true });
  writeFileSync(join(folder, 'dist/arm64/bin/ffmpeg'), 'swapped');
  const sha256 = createHash('sha256').update('swapped').digest('hex');
  const errors = (id: string) => {
    new FfmpegLayer(stack, id, { architecture: 'arm64', required: true, folder });
    return Annotations.fromStack(stack).findError(`/Stack/${id}`, Match.stringLikeRegexp(sha256)).length;
  };
  expect(errors('Missing')).toBe(1);
  writeFileSync(join(folder, 'checksums.json'), JSON.stringify({ 'b6.1.1': { x86_64: sha256 } }));
  expect(errors('Other')).toBe(1);
  writeFileSync(join(folder, 'checksums.json'), JSON.stringify({ own: { arm64: sha256 } }));
  expect(errors('Own')).toBe(0);
});

test('FfmpegLayer uses a built layer only for its architecture', () => {
  mkdirSync(join(folder, 'dist/x86_64/bin'), { recursive: true });
  writeFileSync(join(folder, 'dist/x86_64/bin/ffmpeg'), Buffer.alloc(1000));
  const sha256 = createHash('sha256').update(Buffer.alloc(1000)).digest('hex');
  writeFileSync(join(folder, 'checksums.json'), JSON.stringify({ own: { x86_64: sha256 } }));
  const built = new FfmpegLayer(stack, 'Built', { architecture: 'x86_64', required: true, folder });
  expect(built.unzippedBytes).toBe(1000);
  expect(Annotations.fromStack(stack).findError('*', Match.anyValue())).toEqual([]);
  expect(
    new FfmpegLayer(stack, 'Other', { architecture: 'arm64', required: false, folder }).unzippedBytes,
  ).toBe(11);
});
