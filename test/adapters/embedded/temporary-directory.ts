import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory that goes with its test. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'watchpost-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
