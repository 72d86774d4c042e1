import type { WorkflowState } from '../../../core/records/workflow.ts';
import { addSeconds } from '../../../core/time.ts';
import { compared, newScan, type ScriptedFrame } from './scans.ts';
import { world } from './watch-world.ts';

/** Frames of a scan, at these seconds before the newest frame. */
export const visitor = (...seconds: number[]) =>
  seconds.map((before) => ({ before, shows: 'visitor' as const }));
export const black = (...seconds: number[]) => seconds.map((before) => ({ before, shows: 'black' as const }));
export const quiet = (...seconds: number[]) => seconds.map((before) => ({ before, shows: 'quiet' as const }));

/** Runs a tick whose scan finds these frames: `verdicts` are those of the chosen moments and the newest frame. */
export async function tick(
  step: WorkflowState,
  frames: readonly ScriptedFrame[],
  verdicts: readonly (boolean | Error)[],
  moved = false,
): Promise<WorkflowState> {
  const { script, c } = world;
  const { capture } = c.streams;
  script.moved.push(moved);
  script.earlier.push(frames.map(compared));
  script.verdicts.push(...verdicts);
  c.streams.capture = async (...args) => {
    c.streams.capture = capture;
    const captured = await capture(...args);
    return { ...captured, scan: newScan(captured.capturedAt, frames) };
  };
  return world.tick(step);
}

/** Returns the time these seconds before now. */
export const ago = (seconds: number) => addSeconds(world.clock.now, -seconds).toISOString();
