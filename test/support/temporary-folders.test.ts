import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listLeft, removeEnded } from './runner/run-folder.ts';
import { folderOfTest } from './temporary-folder.ts';

describe('the temporary folder of a test run', () => {
  test('the end of a run names what tests have left in the temporary folder', () => {
    const folder = folderOfTest();
    mkdirSync(join(folder, 'watchpost-forgotten-1'));
    writeFileSync(join(folder, 'left.sqlite'), '');
    expect(listLeft(folder)).toEqual(['left.sqlite', 'watchpost-forgotten-1']);
  });

  test('the end of a run accepts what all files share until then', () => {
    const folder = folderOfTest();
    for (const name of ['run', 'node-compile-cache', '.org.chromium.Chromium.x1'])
      mkdirSync(join(folder, name));
    expect(listLeft(folder)).toEqual([]);
  });
});

test('a run removes the folders of killed runs, and leaves those of running ones, of recent ones that it cannot see, and of others', () => {
  const folder = folderOfTest();
  const [ended, unseen] = ['watchpost-tests-99999999', 'watchpost-tests-99999998'];
  const running = `watchpost-tests-${process.pid}`;
  for (const name of [ended, running, unseen, 'other'])
    mkdirSync(join(folder, name, 'inner'), { recursive: true });
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of [ended, running, 'other']) utimesSync(join(folder, name), longAgo, longAgo);
  removeEnded(folder);
  expect(readdirSync(folder).toSorted()).toEqual(['other', running, unseen].toSorted());
});

let earlier: string | undefined;
test.each(['first', 'second'])('a folder of the %s test is there and that of the test before is gone', () => {
  if (earlier !== undefined) expect(existsSync(earlier)).toBe(false);
  earlier = folderOfTest();
  expect(readdirSync(earlier)).toEqual([]);
});
