import { differingShare } from './measure-clip.ts';
import { measurePicture, type PictureFacts } from './measure-picture.ts';
import { described, disclosure, mainColours, percent } from './explain.ts';
import type { PictureSize } from './picture-decoder.ts';

export type MeasuredSample = { rgb: Uint8Array; capturedAt: Date };

/** A scene counts as changed where this share of the picture differs from the sample before. */
const changedShare = 0.02;
const mostChangesTold = 8;

/** A measured account: how it began, when it changed and to what, and the span of brightness. */
export function summarizeSamples(samples: MeasuredSample[], size: PictureSize): string {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined)
    return `No pictures were taken in this window. ${disclosure}`;
  const facts = samples.map(({ rgb }) => measurePicture(rgb, size));
  const changes = changesIn(samples, facts);
  return [
    `${samples.length} ${samples.length === 1 ? 'picture' : 'pictures'} from ${timeOf(first)} to ${timeOf(last)}.`,
    `At first: ${described(measurePicture(first.rgb, size))}`,
    ...changes.slice(0, mostChangesTold),
    ...(changes.length > mostChangesTold
      ? [`There were ${changes.length - mostChangesTold} more changes.`]
      : []),
    ...(changes.length === 0 ? ['Nothing changed by more than 2 % of the picture.'] : []),
    brightnessSpan(facts),
    disclosure,
  ].join(' ');
}

function changesIn(samples: MeasuredSample[], facts: PictureFacts[]): string[] {
  return samples.flatMap((sample, at) => {
    const before = samples[at - 1];
    const now = facts[at];
    if (before === undefined || now === undefined) return [];
    const share = differingShare(before.rgb, sample.rgb);
    if (share < changedShare) return [];
    return [
      `At ${timeOf(sample)} ${percent(share)} of the picture had changed; it was ${mainColours(now.shares)}.`,
    ];
  });
}

function brightnessSpan(facts: PictureFacts[]): string {
  const levels = facts.map(({ brightness }) => brightness);
  return `Mean brightness was between ${percent(Math.min(...levels))} and ${percent(Math.max(...levels))}.`;
}

function timeOf({ capturedAt }: MeasuredSample): string {
  return `${capturedAt.toISOString().slice(11, 19)} UTC`;
}
