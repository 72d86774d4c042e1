import type { InputMode } from '../../../../core/records/capture.ts';
import type { Variant } from './playlist.ts';

/**
 * Sufficient height, in pixels: frames are scaled to 896 px width, clips to 672 px. Larger variants take longer to
 * fetch and decode.
 */
const sufficientHeight: Record<InputMode, number> = { frames: 720, clip: 480, hybrid: 480 };

/** Sufficient bandwidth, in bits per second, for playlists without resolutions. */
const sufficientBandwidth: Record<InputMode, number> = {
  frames: 3_000_000,
  clip: 1_500_000,
  hybrid: 1_500_000,
};

const videoCodec = /^(avc|hvc|hev|dvh|dva|av01|vp0?[89]|mp4v)/i;

/**
 * Returns the variants with video, best first: the smallest sufficient one, then larger ones, then smaller ones, then
 * renditions of them.
 */
export function rankVariants(variants: Variant[], mode: InputMode): Variant[] {
  const withPicture = variants.filter(hasPicture);
  const sized = withPicture.filter(({ resolution }) => resolution !== null);
  const candidates = (sized.length > 0 ? sized : withPicture).toSorted(bySize);
  const enough = candidates.filter((variant) => suffices(variant, mode));
  const small = candidates.filter((variant) => !suffices(variant, mode));
  // Equal ones are alternatives in the order of the playlist.
  const ranked = [...enough, ...small.toSorted((a, b) => bySize(b, a))];
  return [
    ...ranked.filter(({ isRendition }) => !isRendition),
    ...ranked.filter(({ isRendition }) => isRendition),
  ];
}

/** Minimum height of a rendition that a scan reads: that of the thumbnail, with a reserve for the codec. */
const minScanHeight = 160;

/**
 * Returns the smallest variant with video for scans, of H.264 if there is one. Returns null if that is the variant that
 * is judged, or if sizes are unknown: an unknown one may be audio only.
 */
export function chooseScanVariant(variants: Variant[], judged: Variant): Variant | null {
  const [smallest] = variants
    .filter((variant) => hasPicture(variant) && shorterSide(variant) >= minScanHeight)
    .toSorted((a, b) => work(a) - work(b) || bySize(a, b));
  const isSmaller = smallest !== undefined && bySize(smallest, judged) < 0 && smallest.url !== judged.url;
  return isSmaller ? smallest : null;
}

/** Names a variant for positions: bandwidths may vary, and a URL may be signed. */
export function nameVariant({ resolution }: Variant): string {
  return resolution === null ? 'unknown' : `${resolution.width}x${resolution.height}`;
}

function hasPicture(variant: Variant): boolean {
  if (variant.resolution !== null || !variant.codecs) return true;
  return readCodecs(variant).some((codec) => videoCodec.test(codec));
}

/** Orders by size, then by decoding work and color accuracy, then by bandwidth. */
function bySize(a: Variant, b: Variant): number {
  return shorterSide(a) - shorterSide(b) || work(a) - work(b) || a.bandwidth - b.bandwidth;
}

/** Ranks by codec: H.264 decodes fastest; Dolby Vision without its decoder has false colors. */
function work(variant: Variant): number {
  const codecs = readCodecs(variant);
  if (codecs.some((codec) => /^(dvh|dva)/i.test(codec))) return 2;
  return codecs.some((codec) => /^(hvc|hev|av01|vp0?9)/i.test(codec)) ? 1 : 0;
}

function readCodecs({ codecs }: Variant): string[] {
  return (codecs ?? '').split(',').map((codec) => codec.trim());
}

function suffices(variant: Variant, mode: InputMode): boolean {
  return variant.resolution === null
    ? variant.bandwidth >= sufficientBandwidth[mode]
    : shorterSide(variant) >= sufficientHeight[mode];
}

/** Returns the height in landscape, the width in portrait, and 0 if the resolution is unknown. */
function shorterSide({ resolution }: Variant): number {
  return resolution === null ? 0 : Math.min(resolution.width, resolution.height);
}
