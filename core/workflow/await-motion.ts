import type { CoreDeps } from '../dependencies.ts';
import { detectPlatform, hasSession } from '../records/platform.ts';
import type { RunStore } from '../ports/runs.ts';
import type { CaptureInput } from '../records/workflow.ts';

export type MotionDeps = Pick<CoreDeps, 'streams' | 'compareMotion'> & { runs: Pick<RunStore, 'source'> };

/**
 * Follows the stream of a run after a capture, until motion begins: a key frame differs from the picture that the model
 * judged last, after one that did not. Returns false if the stream cannot be followed. Throws the abort reason.
 */
export async function awaitMotion(
  { source_id: sourceId, seen, motion, wakes }: CaptureInput,
  { streams, compareMotion, runs }: MotionDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const source = await runs.source(sourceId);
  if (!source || source.ended || !streams.follow || motion === null) return false;
  const { url, caller, follow = false, regions } = source;
  // To follow a playlist costs the bandwidth of a player.
  if (!hasSession(detectPlatform(url)) && !follow) return false;
  let wasQuiet = wakes?.quiet ?? false;
  const motionFound = new AbortController();
  const onFrame = (thumbnail: Uint8Array): void => {
    const { moved, black } = compareMotion(thumbnail, motion, regions ?? []);
    if (!moved) wasQuiet = true;
    else if (wasQuiet && !black) motionFound.abort();
  };
  const request = { url, caller, after: seen?.position ?? null };
  const following = streams.follow(request, onFrame, AbortSignal.any([signal, motionFound.signal]));
  await following.catch((error: unknown) => {
    if (!motionFound.signal.aborted) throw error;
  });
  signal.throwIfAborted();
  return motionFound.signal.aborted;
}
