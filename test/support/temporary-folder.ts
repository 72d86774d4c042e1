import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, onTestFinished } from 'vitest';

/** Creates a folder that is removed after the test. */
export function folderOfTest(): string {
  const { path, remove } = makeFolder();
  onTestFinished(remove);
  return path;
}

/** Creates a folder that is removed after the test file. For use outside of tests and hooks. */
export function folderOfFile(): string {
  const { path, remove } = makeFolder();
  afterAll(remove);
  return path;
}

function makeFolder() {
  // The name of the test file, for the message at the end of the run.
  const { testPath = 'test' } = expect.getState();
  const path = mkdtempSync(join(tmpdir(), `${basename(testPath, '.test.ts')}-`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}
