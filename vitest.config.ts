import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { AttackLine } from './test/attacks/attack-line.ts';
import { excludedFrom, laneOrder, lanes, type Lane } from './test/lanes.ts';
import { ClosingLine } from './test/support/runner/closing-line.ts';
import { layerPath } from './test/support/runner/layer-ffmpeg.ts';
import { LongFirst } from './test/support/runner/long-first.ts';

/** Options of a lane whose files wait for nothing. */
const busyLane = { maxWorkers: availableParallelism() };

const runner = (...names: string[]) => names.map((name) => `test/support/runner/${name}.ts`);

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], new AttackLine(), new ClosingLine()],
    // Three more than the cores of CI: many tests wait for streams and processes.
    maxWorkers: 5,
    sequence: { sequencer: LongFirst },
    projects: [
      project('services', {
        globalSetup: runner('packages', 'run-folder', 'layer-ffmpeg'),
        env: { PATH: layerPath },
      }),
      project('stacks', {
        globalSetup: runner('run-folder'),
        // The rules of the CDK are seven seconds of processor time in each process: `npm run test:aws -- --all` runs
        // them.
        env: { CDK_VALIDATION: 'false' },
        ...busyLane,
      }),
      project('processes', {
        globalSetup: [
          ...runner('packages', 'run-folder', 'layer-ffmpeg'),
          'test/adapters/aws/dynamodb/start-dynamo-local.ts',
          'test/console/build-console.ts',
        ],
        // Thousands of captures use the ffmpeg of the layer; `test/cli/service/service.test.ts` uses that of the
        // system.
        env: { PATH: layerPath },
      }),
      project('core', {
        globalSetup: ['test/step-functions/install.ts', ...runner('run-folder')],
        setupFiles: runner('no-side-effects'),
        pool: 'threads',
        ...busyLane,
      }),
    ],
  },
});

type LaneOptions = {
  globalSetup: string[];
  setupFiles?: string[];
  env?: Record<string, string>;
  pool?: 'threads';
  maxWorkers?: number;
};

function project(name: Lane, options: LaneOptions) {
  return {
    test: {
      name,
      include: [...lanes[name]],
      exclude: excludedFrom(name),
      // Files of a worker share their modules: half of the processor time of short files is their import.
      isolate: false,
      // Node loads the modules, as in the service: Vite's transformation, for `vi.mock`, takes a tenth of the time.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      sequence: { groupOrder: laneOrder.indexOf(name) },
      // Time for a busy machine, on which half a second is a minute; a test of decisions that hangs is seen sooner.
      testTimeout: name === 'core' && process.env['CI'] !== 'true' ? 30_000 : 120_000,
      // A second, which is the default, is too short for a slow machine.
      expect: { poll: { timeout: 20_000 } },
      hookTimeout: 120_000,
      // Real streams, processes and clocks on two shared cores: a test that fails in CI must fail twice. The report
      // lists the retried tests.
      retry: process.env['CI'] === 'true' ? 1 : 0,
      ...options,
    },
  };
}
