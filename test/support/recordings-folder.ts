import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Temporary folder of media that several test files share; deleted after the run. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-recordings-'));
  process.env[recordingsFolder] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

export const recordingsFolder = 'WATCHPOST_TEST_RECORDINGS';
