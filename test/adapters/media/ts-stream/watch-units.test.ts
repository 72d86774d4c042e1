import { expect, test } from 'vitest';
import { createUnitWatcher } from '../../../../adapters/media/ts-stream/capture-ts-stream.ts';
import { writeFields } from '../../../support/interlaced.ts';

test.each([
  ['one field', false, 1],
  ['two fields', true, 2],
])('a key frame of interlaced video is whole with %s: %s', (_fields, isWhole, count) => {
  const watcher = createUnitWatcher();
  watcher.push(writeFields(count));
  watcher.end();
  expect(watcher.hasKeyFrame()).toBe(isWhole);
});
