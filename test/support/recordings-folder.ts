import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates the temporary folder of media that the test files of all lanes share (Vitest global setup). Returns the function that deletes it. */
export function setup(): (() => void) | undefined {
  if (process.env[recordingsFolder]) return;
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-recordings-'));
  process.env[recordingsFolder] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Environment variable with the path of the folder. */
export const recordingsFolder = 'WATCHPOST_TEST_RECORDINGS';
