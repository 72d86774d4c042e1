import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Media that several test files need is made once a run, in a folder that all of them know and that ends with the run. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-recordings-'));
  process.env[recordingsFolder] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

export const recordingsFolder = 'WATCHPOST_TEST_RECORDINGS';
