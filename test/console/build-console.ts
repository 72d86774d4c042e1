import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { runsFilesIn } from '../support/runner/run-folder.ts';

/**
 * Builds the console before the tests of a run (Vitest global setup), as npm does after an install: while it is built,
 * a stack or a page that reads it would find half of it. In a child process, because NODE_ENV of this one changes the
 * build.
 */
export function setup(project: TestProject): void {
  if (!runsFilesIn(import.meta.dirname, project)) return;
  const env = { ...process.env, NODE_ENV: 'production' };
  execFileSync(process.execPath, ['console/prepare.js'], { stdio: ['ignore', 'ignore', 'inherit'], env });
}
