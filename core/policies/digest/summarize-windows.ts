import type { CallerUsage } from '../../ports/usage.ts';
import type { CoreDeps } from '../../dependencies.ts';
import { createTimeLimit, waitUntilAborted } from '../../time-limit.ts';
import { rules } from '../../rules.ts';
import { closeUnasked } from './window-closure.ts';
import type { WindowClosure, ClosureResult, SummaryResult } from '../../records/window-closure.ts';
import { TransientError } from '../../errors.ts';
import { VisionError } from '../../vision-errors.ts';
import type { JobOf } from '../../records/job.ts';
import { jobLog } from '../../ports/observability.ts';
import type { Sample, WindowSummarizer } from '../../ports/vision-model.ts';

export type SummaryDeps = Pick<CoreDeps, 'media' | 'vision' | 'contactSheets' | 'log' | 'newId'> & {
  usage: Pick<CallerUsage, 'charge' | 'record'>;
};

/** Timeout of the model call, in seconds, and the signal that aborts the whole task. */
export type SummaryTimeout = { seconds: number; signal?: AbortSignal | undefined };

/**
 * Requests the summary of the windows to close; without samples there is no model call. Ends at `timeout` even if the
 * model or the media store ignores its signal. Throws the reason of `timeout.signal`, and defects.
 */
export async function summarizeWindows(
  job: JobOf<'digest'>,
  closing: WindowClosure,
  deps: SummaryDeps,
  timeout: SummaryTimeout,
): Promise<ClosureResult> {
  if (closing.samples.length === 0) return closeUnasked(closing);
  const signal = createTimeLimit(timeout.seconds, timeout.signal);
  const samples = await readSamplesOrGiveUp(closing, deps, timeout, signal);
  if (!samples) return { closing, result: unreadable(job), gridKey: null };
  if (samples.length === 0) {
    const why = 'they were removed before the model could see them.';
    return { closing, result: { kind: 'none', why }, gridKey: null };
  }
  // Concurrent with the model call, so that a slow grid does not reduce its time.
  const [result, gridKey] = await Promise.all([
    ask(job.caller, samples, deps, timeout, signal),
    job.config.include_frames ? storeGrid(job, samples, deps, signal) : null,
  ]);
  return { closing, result, gridKey };
}

/** Creates a summarizer that calls the model in this process. */
export function createWindowSummarizer(deps: SummaryDeps): WindowSummarizer {
  return { summarize: (job, closing, seconds) => summarizeWindows(job, closing, deps, { seconds }) };
}

async function ask(
  caller: string,
  samples: Sample[],
  { vision, usage }: SummaryDeps,
  timeout: SummaryTimeout,
  signal: AbortSignal,
): Promise<SummaryResult> {
  try {
    const summary = await usage.charge(caller, () =>
      waitUntilAborted(vision.summarize(samples, signal), signal).catch((error: unknown) => {
        if (!signal.aborted || error instanceof VisionError) throw error;
        throw new VisionError('The model did not answer in time. Try again.', { cause: error });
      }),
    );
    return { kind: 'summarized', summary };
  } catch (error) {
    // An aborted task has not failed: the workflow repeats it.
    timeout.signal?.throwIfAborted();
    if (!(error instanceof VisionError)) throw error;
    const { code, message, remediation } = error;
    return { kind: 'missed', failure: { code, message, remediation } };
  }
}

/** Returns undefined after a transient error of the media store, or at the timeout. */
async function readSamplesOrGiveUp(
  closing: WindowClosure,
  deps: SummaryDeps,
  timeout: SummaryTimeout,
  signal: AbortSignal,
): Promise<Sample[] | undefined> {
  try {
    return await waitUntilAborted(readSamples(closing, deps), signal);
  } catch (error) {
    if (timeout.signal?.aborted || !(error instanceof TransientError || signal.aborted)) throw error;
    return undefined;
  }
}

/**
 * Returns the result for samples that cannot be read. They are retried like a model call; after the last retry the
 * window closes without a summary.
 */
function unreadable({ sight }: JobOf<'digest'>): SummaryResult {
  if ((sight.model_trouble?.failures ?? 0) + 1 >= rules.maxModelFailures)
    return { kind: 'none', why: 'they could not be read.' };
  const message = 'The pictures could not be read';
  return {
    kind: 'missed',
    failure: { code: 'INTERNAL_ERROR', message, remediation: 'They are read again.' },
  };
}

/** Omits expired images. */
async function readSamples({ samples }: WindowClosure, { media }: SummaryDeps): Promise<Sample[]> {
  const readable = await Promise.all(
    samples.map(async ({ frame_key: key, captured_at: capturedAt }) => {
      const frame = await media.get(key);
      return frame ? [{ frame, capturedAt: new Date(capturedAt) }] : [];
    }),
  );
  return readable.flat();
}

/** 16 tiles of 320 px, 4 by 4: an image of 1280 × 720 px, about 150 kB. */
const gridTiles = 16;
const gridTileWidthPixels = 320;

/** Creates the frame grid of a window. Returns undefined if it fails: the summary does not need it. */
async function storeGrid(
  job: JobOf<'digest'>,
  samples: Sample[],
  deps: SummaryDeps,
  signal: AbortSignal,
): Promise<string | null> {
  const tiles = selectEvenly(samples, gridTiles);
  const columns = Math.ceil(Math.sqrt(tiles.length));
  try {
    const layout = { columns, tileWidthPixels: gridTileWidthPixels };
    const grid = await waitUntilAborted(deps.contactSheets.make(tiles, layout, signal), signal);
    const key = `captures/${job.source_id}/window-${deps.newId()}.jpg`;
    await waitUntilAborted(deps.media.put(key, grid, 'image/jpeg'), signal);
    return key;
  } catch (error) {
    jobLog(deps.log, job.run_id).warning('No frame grid was made', { error: String(error) });
    return null;
  }
}

/** Selects at most `max` (two or more) of `samples`, evenly spread, with the first and the last among them. */
export function selectEvenly<Item>(samples: readonly Item[], max: number): Item[] {
  if (samples.length <= max) return [...samples];
  const step = (samples.length - 1) / (max - 1);
  const chosen = new Set(Array.from({ length: max }, (_, index) => Math.round(index * step)));
  return samples.filter((_, index) => chosen.has(index));
}
