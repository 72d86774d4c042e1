import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

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
  const path = mkdtempSync(join(tmpdir(), 'watchpost-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
