import { advise } from '../advice/advise.ts';
import type { CoreDeps } from '../dependencies.ts';
import { WatchNotFoundError } from '../errors.ts';
import { judgeCondition, type VisionModel } from '../ports/vision-model.ts';
import type { Meter } from '../ports/usage.ts';
import type { InputMode } from '../records/capture.ts';
import type { ConditionQuestion } from '../records/vision.ts';
import type { WatchRequest } from '../requests/watches.ts';
import { captureStream, probeStream, requireClips } from '../stream/stream-access.ts';
import { checkInputMode, checkUrls } from './create-watch.ts';
import { requireOwnWatch, type WatchDeps } from './commit-watch.ts';
import { toRequest } from './watch-config.ts';

type Deps = WatchDeps & {
  meter: Pick<Meter, 'count'>;
  vision: Pick<VisionModel, 'judge' | 'capabilities' | 'model'>;
} & Pick<CoreDeps, 'limits' | 'usage'>;

/** Configuration that a preview checks. */
type PreviewInput = Pick<
  WatchRequest,
  'stream_url' | 'input_mode' | 'clip_duration_seconds' | 'destinations' | 'regions'
> & { conditions: readonly ConditionQuestion[] };

/**
 * Checks all conditions of an own watch once on a new capture, in `mode` or its own. Changes nothing. Throws the errors
 * of `checkOnce`.
 */
export async function previewWatch(
  { watchId, mode }: { watchId: string; mode: InputMode | undefined },
  caller: string,
  deps: Deps,
) {
  const watch = await requireOwnWatch(watchId, caller, deps);
  const source = await deps.runs.source(watch.source_id);
  if (!source) throw new WatchNotFoundError();
  const request = toRequest(watch.config, source.url, []);
  const input = { ...request, input_mode: mode ?? request.input_mode };
  checkInputMode(input, deps);
  return preview({ ...input, conditions: watch.config.conditions }, caller, deps);
}

/** Checks all conditions of a watch that is not created yet. */
export async function previewRequest(request: WatchRequest, caller: string, deps: Deps) {
  checkUrls(request, deps);
  checkInputMode(request, deps);
  requireClips(await probeStream(request.stream_url, caller, deps), request.input_mode);
  const conditions = request.conditions.map(({ condition_id: id, condition, sensitivity }, index) => ({
    condition_id: id ?? `condition-${index + 1}`,
    condition,
    sensitivity,
  }));
  return preview({ ...request, conditions }, caller, deps);
}

async function preview(input: PreviewInput, caller: string, deps: Deps) {
  const { stream_url: url, input_mode: mode, clip_duration_seconds: clipSeconds, regions } = input;
  const capture = await captureStream({ url, mode, clipSeconds, regions, resolveAgain: false }, caller, deps);
  await deps.meter.count({ kind: 'direct_frame' });
  const media = { mode, frame: capture.frame, ...(capture.clip ? { clip: capture.clip } : {}), regions };
  const signal = AbortSignal.timeout(deps.limits.visionTimeoutSeconds * 1000);
  const verdicts = await Promise.all(
    input.conditions.map(async ({ condition_id, condition, sensitivity = 'normal' }) => {
      const verdict = await deps.usage.charge(caller, () =>
        judgeCondition(deps.vision, media, { condition, sensitivity }, signal),
      );
      const { triggered, judged, explanation, boxes, shown_at_seconds } = verdict;
      const { findings } = advise(condition, deps.vision.capabilities, sensitivity);
      return {
        condition_id,
        condition,
        triggered,
        explanation,
        findings,
        ...(judged === false && { judged }),
        ...(boxes && { boxes }),
        ...(shown_at_seconds !== undefined && { shown_at_seconds }),
      };
    }),
  );
  return { verdicts, capture };
}
