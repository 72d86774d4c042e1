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

/** The smallest variant that suffices for the mode, else the largest; null if none has a picture. */
export function chooseVariant(variants: Variant[], mode: InputMode): Variant | null {
  const withPicture = variants.filter(hasPicture);
  const sized = withPicture.filter(({ resolution }) => resolution !== null);
  const candidates = (sized.length > 0 ? sized : withPicture).toSorted(bySize);
  return candidates.find((variant) => suffices(variant, mode)) ?? candidates.at(-1) ?? null;
}

function hasPicture(variant: Variant): boolean {
  if (variant.resolution !== null || variant.codecs === null) return true;
  return variant.codecs.split(',').some((codec) => videoCodec.test(codec.trim()));
}

/** Of two of one size, the one that comes sooner. */
function bySize(a: Variant, b: Variant): number {
  return shorterSide(a) - shorterSide(b) || a.bandwidth - b.bandwidth;
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
