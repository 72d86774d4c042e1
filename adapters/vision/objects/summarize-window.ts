import { selectEvenly } from '../../../core/policies/digest/summarize-windows.ts';
import type { Sample } from '../../../core/ports/vision-model.ts';
import { disclosure } from '../../../core/disclosure.ts';
import { decoded, measuredSize } from '../pixel/read-moments.ts';
import { summarizeSamples } from '../pixel/summarize.ts';
import { type BuiltInDeps, detect, inputSize } from './object-moments.ts';
import { summarizeObjects } from './summarize-objects.ts';

/** Maximum samples of a window that the network sees: 7 s on one core, within the time of a summary. */
const maxDetectedSamples = 60;

/** Describes a window by its objects, and by what is measured in it. */
export async function summarizeWindow(
  samples: Sample[],
  deps: BuiltInDeps,
  signal: AbortSignal,
): Promise<string> {
  const measured = await summarizeMeasured(samples, deps, signal);
  const objects = await summarizeDetected(selectEvenly(samples, maxDetectedSamples), deps, signal);
  return [...objects, measured, disclosure].join(' ');
}

async function summarizeMeasured(samples: Sample[], { decoder }: BuiltInDeps, signal: AbortSignal) {
  const frames = samples.map(({ frame }) => frame);
  const pictures = await decoded(signal, () => decoder.decodeEach(frames, measuredSize, signal));
  const measured = pictures.flatMap((rgb, index) => {
    const sample = samples[index];
    return sample && rgb ? [{ rgb, capturedAt: sample.capturedAt }] : [];
  });
  const unread = samples.length - measured.length;
  const leftOut = unread === 0 ? '' : `${unread} of ${samples.length} samples could not be decoded. `;
  return leftOut + summarizeSamples(measured, measuredSize);
}

async function summarizeDetected(
  samples: Sample[],
  { decoder, detector }: BuiltInDeps,
  signal: AbortSignal,
): Promise<string[]> {
  const [first] = samples;
  if (first === undefined || detector === null) return [];
  const size = inputSize(first.frame, detector);
  const frames = samples.map(({ frame }) => frame);
  const pictures = await decoded(signal, () => decoder.decodeEach(frames, size, signal));
  const detected = [];
  for (const [index, rgb] of pictures.entries()) {
    const sample = samples[index];
    if (sample && rgb)
      detected.push({
        detections: await detect({ ...size, rgb }, detector, signal),
        capturedAt: sample.capturedAt,
      });
  }
  return [summarizeObjects(detected)];
}
