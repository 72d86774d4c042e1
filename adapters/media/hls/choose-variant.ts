import type { InputMode } from '../../../core/capture.ts';
import type { Variant } from './playlist.ts';

/** Lines of the picture that suffice: frames are scaled to 896 px of width, clips to 672. More only takes longer to fetch and decode. */
const sufficientHeight: Record<InputMode, number> = { frames: 720, clip: 480, hybrid: 480 };

/** What such a picture takes of bandwidth, for playlists that do not tell sizes. */
const sufficientBandwidth: Record<InputMode, number> = {
  frames: 3_000_000,
  clip: 1_500_000,
  hybrid: 1_500_000,
};

const videoCodec = /^(avc|hvc|hev|dvh|dva|av01|vp0?[89]|mp4v)/i;

/** Those with a picture, the best for the mode first: the smallest that suffices, larger ones after it, then smaller ones. */
export function rankVariants(variants: Variant[], mode: InputMode): Variant[] {
  const withPicture = variants.filter(hasPicture);
  const sized = withPicture.filter(({ resolution }) => resolution !== null);
  const candidates = (sized.length > 0 ? sized : withPicture).toSorted(bySize);
  const enough = candidates.filter((variant) => suffices(variant, mode));
  return [...enough, ...candidates.filter((variant) => !suffices(variant, mode)).toReversed()];
}

function hasPicture(variant: Variant): boolean {
  if (variant.resolution !== null || !variant.codecs) return true;
  return codecsOf(variant).some((codec) => videoCodec.test(codec));
}

/** Of one size, the one that is the least work and has true colours, and of two such the one that comes sooner. */
function bySize(a: Variant, b: Variant): number {
  return shorterSide(a) - shorterSide(b) || work(a) - work(b) || a.bandwidth - b.bandwidth;
}

/** H.264 is decoded the fastest; Dolby Vision without its own decoder has false colours. */
function work(variant: Variant): number {
  const codecs = codecsOf(variant);
  if (codecs.some((codec) => /^(dvh|dva)/i.test(codec))) return 2;
  return codecs.some((codec) => /^(hvc|hev|av01|vp0?9)/i.test(codec)) ? 1 : 0;
}

function codecsOf({ codecs }: Variant): string[] {
  return (codecs ?? '').split(',').map((codec) => codec.trim());
}

function suffices(variant: Variant, mode: InputMode): boolean {
  return variant.resolution === null
    ? variant.bandwidth >= sufficientBandwidth[mode]
    : shorterSide(variant) >= sufficientHeight[mode];
}

/** The height of a picture in landscape, the width of one in portrait. */
function shorterSide({ resolution }: Variant): number {
  return resolution === null ? 0 : Math.min(resolution.width, resolution.height);
}
