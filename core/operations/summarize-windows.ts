import type { Collaborators } from '../collaborators.ts';
import type { Closing, ClosedWindows, SummaryResult } from '../digest/closing.ts';
import { spreadSamples } from '../digest/spread-samples.ts';
import { VisionError } from '../errors.ts';
import type { DigestJob } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import type { Sample } from '../ports/vision-model.ts';

export type SummaryNeeds = Pick<Collaborators, 'media' | 'vision' | 'contactSheets' | 'log' | 'newId'>;

/** How long the model may take, and what abandons the whole task. */
export type Patience = { seconds: number; signal?: AbortSignal | undefined };

/** Asks the model for the summary of the windows that are to be closed; without samples nobody is asked. */
export async function summarizeWindows(
  job: DigestJob,
  closing: Closing,
  c: SummaryNeeds,
  patience: Patience,
): Promise<ClosedWindows> {
  if (closing.samples.length === 0) return { closing, result: { kind: 'none', why: null }, gridKey: null };
  const samples = await picturesOf(closing, c);
  if (samples.length === 0) {
    const why = 'they were removed before the model could see them.';
    return { closing, result: { kind: 'none', why }, gridKey: null };
  }
  const timeout = AbortSignal.timeout(patience.seconds * 1000);
  const signal = patience.signal ? AbortSignal.any([patience.signal, timeout]) : timeout;
  const gridKey = job.config.include_frames ? await storeGrid(job, samples, c, signal) : null;
  return { closing, result: await ask(samples, c, patience, signal), gridKey };
}

async function ask(
  samples: Sample[],
  { vision }: SummaryNeeds,
  patience: Patience,
  signal: AbortSignal,
): Promise<SummaryResult> {
  try {
    return { kind: 'summarized', summary: await vision.summarize(samples, signal) };
  } catch (error) {
    // Abandoned is not failed: the task runs again.
    if (patience.signal?.aborted || !(error instanceof VisionError)) throw error;
    const { code, message, remediation } = error;
    return { kind: 'missed', failure: { code, message, remediation } };
  }
}

/** Pictures that are gone are left out. */
async function picturesOf({ samples }: Closing, { media }: SummaryNeeds): Promise<Sample[]> {
  const found = await Promise.all(
    samples.map(async ({ frame_key: key, captured_at: at }) => {
      const frame = await media.get(key);
      return frame ? [{ frame, capturedAt: new Date(at) }] : [];
    }),
  );
  return found.flat();
}

/** 4 by 4 tiles of 320 px make a picture of 1280 by 720, about 150 kB. */
const gridTiles = 16;
const gridTileWidthPixels = 320;

/** The window at a glance. A grid that fails costs nobody a summary. */
async function storeGrid(
  job: DigestJob,
  samples: Sample[],
  c: SummaryNeeds,
  signal: AbortSignal,
): Promise<string | null> {
  const tiles = spreadSamples(samples, gridTiles);
  const columns = Math.ceil(Math.sqrt(tiles.length));
  try {
    const grid = await c.contactSheets.make(tiles, { columns, tileWidthPixels: gridTileWidthPixels }, signal);
    const key = `captures/${job.source_id}/window-${c.newId()}.jpg`;
    await c.media.put(key, grid, 'image/jpeg');
    return key;
  } catch (error) {
    if (!(error instanceof VisionError)) throw error;
    jobLog(c.log, job.job_id).warning('No frame grid was made', { remediation: error.remediation });
    return null;
  }
}
