import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { AttackLine } from './test/attacks/attack-line.ts';
import { excludedFrom, lanes } from './test/lanes.ts';
import type { Lane } from './test/lanes.ts';
import { ClosingLine } from './test/support/runner/closing-line.ts';
import { layerPath } from './test/support/runner/layer-ffmpeg.ts';
import { LongFirst } from './test/support/runner/long-first.ts';

/** Lane with processes. Its thousands of captures use the ffmpeg of the layer; `test/cli/service/service.test.ts` uses that of the system. */
const withProcesses = (...furtherSetup: string[]) => ({
  globalSetup: [
    ...['packages', 'run-folder', 'layer-ffmpeg'].map((name) => `test/support/runner/${name}.ts`),
    ...furtherSetup,
  ],
  env: { PATH: layerPath },
  isolate: false,
});

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], new AttackLine(), new ClosingLine()],
    // Three more than the cores of CI: many tests wait for streams and processes.
    maxWorkers: 5,
    sequence: { sequencer: LongFirst },
    projects: [
      // Files of a worker share their modules: half of the processor time of short files is their import.
      project('core', {
        globalSetup: ['test/step-functions/install.ts', 'test/support/runner/run-folder.ts'],
        setupFiles: ['test/support/runner/no-side-effects.ts'],
        pool: 'threads',
        isolate: false,
        ...busyLane(2),
      }),
      project('stacks', {
        globalSetup: ['test/support/runner/run-folder.ts'],
        // The rules of the CDK are seven seconds of processor time in each process: `test/lib/stage-kinds.test.ts` runs them.
        env: { CDK_VALIDATION: 'false' },
        isolate: false,
        ...busyLane(0),
      }),
      project('contract', withProcesses('test/adapters/aws/dynamodb/start-dynamo-local.ts')),
      project('browser', withProcesses('test/console/build-console.ts')),
      project('service', withProcesses()),
      project('media', withProcesses()),
    ],
  },
});

/** Lane whose files wait for nothing: more workers than cores only load their modules once more. Runs beside no other lane. */
function busyLane(groupOrder: number) {
  return { maxWorkers: availableParallelism(), sequence: { groupOrder } };
}

type LaneOptions = {
  globalSetup?: string[];
  setupFiles?: string[];
  env?: Record<string, string>;
  pool?: 'threads';
  isolate?: boolean;
  maxWorkers?: number;
  sequence?: { groupOrder: number };
};

function project(name: Lane, options: LaneOptions) {
  return {
    test: {
      name,
      include: [...lanes[name]],
      exclude: excludedFrom(name),
      // Node loads the modules, as in the service: Vite's transformation takes a tenth of the processor time, and only `vi.mock` needs it.
      experimental: { viteModuleRunner: name === 'stacks', nodeLoader: name === 'stacks' },
      sequence: { groupOrder: 1 },
      testTimeout: 30_000,
      hookTimeout: 60_000,
      // Real streams, processes and clocks on two shared cores: a test that fails in CI must fail twice. The report lists the retried tests.
      retry: process.env['CI'] === 'true' ? 1 : 0,
      ...options,
    },
  };
}
