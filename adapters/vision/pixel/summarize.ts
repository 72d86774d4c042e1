import { differingShare } from './measure-clip.ts';
import { measurePicture, type PictureFacts } from './measure-picture.ts';
import { describeFrame, mainColors, percent } from './explain.ts';
import type { PictureSize } from './image-decoder.ts';

export type MeasuredSample = { rgb: Uint8Array; capturedAt: Date };

/** Minimum share of the frame that differs from the previous sample, for a change. */
const changedShare = 0.02;
const maxChangesInSummary = 8;

/** Summarizes the samples of a window: first frame, changes with their time, and range of brightness. */
export function summarizeSamples(samples: MeasuredSample[], size: PictureSize): string {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return `This window has no samples.`;
  const facts = samples.map(({ rgb }) => measurePicture(rgb, size));
  const changes = changesIn(samples, facts);
  return [
    `${samples.length} ${samples.length === 1 ? 'sample' : 'samples'} from ${formatTime(first)} to ${formatTime(last)}.`,
    `At first: ${describeFrame(measurePicture(first.rgb, size))}`,
    ...changes.slice(0, maxChangesInSummary),
    ...(changes.length > maxChangesInSummary
      ? [`${changes.length - maxChangesInSummary} more changes followed.`]
      : []),
    ...(changes.length === 0 ? ['No change exceeded 2 % of the frame.'] : []),
    brightnessSpan(facts),
  ].join(' ');
}

function changesIn(samples: MeasuredSample[], facts: PictureFacts[]): string[] {
  return samples.flatMap((sample, index) => {
    const before = samples[index - 1];
    const now = facts[index];
    if (before === undefined || now === undefined) return [];
    const share = differingShare(before.rgb, sample.rgb);
    if (share < changedShare) return [];
    return [
      `At ${formatTime(sample)} ${percent(share)} of the frame had changed; it was ${mainColors(now.shares)}.`,
    ];
  });
}

function brightnessSpan(facts: PictureFacts[]): string {
  const levels = facts.map(({ brightness }) => brightness);
  return `Mean brightness was between ${percent(Math.min(...levels))} and ${percent(Math.max(...levels))}.`;
}

function formatTime({ capturedAt }: MeasuredSample): string {
  return `${capturedAt.toISOString().slice(11, 19)} UTC`;
}
