import { defineConfig } from 'vitest/config';
import { AttackLine } from './test/attacks/attack-line.ts';
import { ClosingLine } from './test/support/closing-line.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/packages.ts', 'test/support/recordings-folder.ts'],
    reporters: [['default', { summary: false }], new AttackLine(), new ClosingLine()],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Real streams, processes and clocks on two shared cores: a test that fails in CI must fail twice. The report says which were tried again.
    retry: process.env['CI'] === 'true' ? 1 : 0,
  },
});
