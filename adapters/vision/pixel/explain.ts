import { disclosure } from '../../../core/disclosure.ts';
import { colors } from './colors.ts';
import type { Measurement } from '../condition/condition.ts';
import { thresholds, type Moment } from './evaluate.ts';
import type { PictureFacts } from './measure-picture.ts';

/** Joins the sentences of an explanation, cut to 600 characters with the disclosure, which is never cut. */
export function withDisclosure(sentences: string[]): string {
  const text = sentences.join(' ');
  const room = 600 - disclosure.length - 1;
  return `${text.length <= room ? text : `${text.slice(0, room - 1)}…`} ${disclosure}`;
}

/** Hint for conditions that the built-in model does not judge. */
export const configureVlmHint =
  'To check it, configure a vision-language model: WATCHPOST_VISION=bedrock, or WATCHPOST_VISION=openai with your own server.';

/** Returns the measured value of a measurement, as a sentence. */
export function explainMeasurement(atom: Measurement, { picture, clip }: Moment): string {
  switch (atom.kind) {
    case 'share':
    case 'region': {
      const [share, region] = [picture.shares[atom.color], picture.regions[atom.color]];
      const name = `${atom.color.charAt(0).toUpperCase()}${atom.color.slice(1)}`;
      const asked =
        atom.kind === 'region'
          ? `a region of ${percent(atom.share)}`
          : `${atom.compare} ${percent(atom.share)}`;
      return `${name} covers ${percent(share)} of the frame (largest region ${percent(region)}; condition: ${asked}).`;
    }
    case 'dark':
      return `${brightness(picture)} (dark is below ${percent(thresholds.dark)}).`;
    case 'bright':
      return `${brightness(picture)} (bright is from ${percent(thresholds.bright)}).`;
    case 'blank':
      return `Contrast is ${percent(picture.contrast)} (blank is below ${percent(thresholds.blankContrast)}).`;
    case 'motion':
      return clip === null
        ? 'A single frame shows no motion: use input_mode clip or hybrid.'
        : `Up to ${percent(clip.movingShare)} of the frame changed during the clip (motion is from ${percent(thresholds.motion)}).`;
    case 'unmeasurable':
      return `A part of the condition is not judged. ${configureVlmHint}`;
  }
}

/** Describes a frame by its main colors and its brightness. */
export function describeFrame(picture: PictureFacts): string {
  return `The frame is ${mainColors(picture.shares)}. ${brightness(picture)}, contrast ${percent(picture.contrast)}.`;
}

/** Lists up to four colors by share; after the first, only those of at least 1 %. */
export function mainColors(shares: PictureFacts['shares']): string {
  return colors
    .toSorted((a, b) => shares[b] - shares[a])
    .slice(0, 4)
    .filter((color, index) => index === 0 || shares[color] >= 0.01)
    .map((color) => `${percent(shares[color])} ${color}`)
    .join(', ');
}

function brightness(picture: PictureFacts): string {
  return `Mean brightness is ${percent(picture.brightness)}`;
}

/** Formats a share as percent with one decimal. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
