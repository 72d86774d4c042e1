import { createAlertId } from '../../adapters/machine.ts';
import { framePictures } from '../../adapters/media/scan/frame-pictures.ts';
import { createWatchRun } from '../../core/policies/watch/initial-state.ts';
import { createMemoryMedia } from '../../core/ports/media-store.ts';
import type { RunChange } from '../../core/ports/runs.ts';
import type { Watch } from '../../core/records/watch.ts';
import type { WorkflowState } from '../../core/records/workflow.ts';
import { later } from '../../core/time.ts';
import { toSource } from '../../core/watch/create-watch.ts';
import { captureTask } from '../../core/workflow/tasks.ts';
import { createVirtualRun } from '../../core/workflow/virtual-run.ts';
import { start } from '../contract/records.ts';
import { judgingEach, scriptedModel } from '../support/scripted-model.ts';
import type { Random } from './random.ts';
import type { VisitedCamera } from './visited-camera.ts';

export type VisitedWatch = ReturnType<typeof createVisitedWatch>;

/** Creates a watch of a camera that runs in memory. Its captures and calls take some time. */
export function createVisitedWatch(watch: Watch, camera: VisitedCamera, random: Random) {
  const clock = { now: start };
  const changes: RunChange[] = [];
  const media = createMemoryMedia();
  const now = () => clock.now;
  const pass = (least: number, most: number) => {
    clock.now = new Date(clock.now.getTime() + random.integer(least, most));
    return clock.now.getTime();
  };
  const run = createVirtualRun(createWatchRun(watch, start), {
    clock,
    media,
    createAlertId,
    limits: { visionTimeoutSeconds: 90 },
    vision: scriptedModel({
      judge: judgingEach(async ({ frame }) => ({
        triggered: camera.judge(frame, pass(100, 600)),
        explanation: '',
        tokens: { input_tokens: 1, output_tokens: 1 },
      })),
    }),
    observe: async ({ change }) => void changes.push(change),
  });
  const source = toSource(watch, watch.stream_url, watch.config);
  const captureDeps = {
    streams: {
      probe: async () => ({ platform: 'hls' as const, playbackUrl: source.url }),
      capture: async (request: Parameters<VisitedCamera['capture']>[0]) =>
        camera.capture(request, pass(50, 900)),
      ...framePictures,
    },
    media,
    compareMotion: camera.compare,
    runs: { source: async () => source },
    limits: { captureTimeoutSeconds: 30 },
    now,
    newId: () => String(clock.now.getTime()),
  };
  return { run, clock, changes, tick };

  async function tick(step: WorkflowState): Promise<WorkflowState> {
    clock.now = later(clock.now, new Date(step.wait_until));
    return run.analyze(step, await captureTask(step.capture, captureDeps));
  }
}
