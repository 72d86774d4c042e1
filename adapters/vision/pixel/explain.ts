import { colours } from './colours.ts';
import { type Atom, atomsOf, type Condition } from './condition.ts';
import { limits, type Moment } from './evaluate.ts';
import type { PictureFacts } from './measure-picture.ts';

/** Said with each answer: nobody shall take it for more than it is. */
export const disclosure = 'Measured by the built-in pixel model, which is no vision-language model.';

/** For conditions that pixels do not decide. */
export const remedy =
  'For this, configure a vision-language model: VISION=bedrock, or VISION=openai with a server of your own.';

/** The measured numbers that a condition turns on, a sentence each. */
export function measuredFor(condition: Condition, moment: Moment): string[] {
  return [...new Set(atomsOf(condition).map((atom) => measured(atom, moment)))];
}

function measured(atom: Atom, { picture, clip }: Moment): string {
  switch (atom.kind) {
    case 'share':
    case 'region': {
      const [share, region] = [picture.shares[atom.colour], picture.regions[atom.colour]];
      const name = `${atom.colour.charAt(0).toUpperCase()}${atom.colour.slice(1)}`;
      const asked =
        atom.kind === 'region'
          ? `a region of ${percent(atom.share)}`
          : `${atom.compare} ${percent(atom.share)}`;
      return `${name} covers ${percent(share)} of the picture (largest region ${percent(region)}; looked for: ${asked}).`;
    }
    case 'dark':
      return `${brightness(picture)} (dark is below ${percent(limits.dark)}).`;
    case 'bright':
      return `${brightness(picture)} (bright is from ${percent(limits.bright)}).`;
    case 'blank':
      return `Contrast is ${percent(picture.contrast)} (blank is below ${percent(limits.blankContrast)}).`;
    case 'motion':
      return clip === null
        ? 'One picture shows no motion: use input_mode clip or hybrid.'
        : `Up to ${percent(clip.movingShare)} of the picture changed during the clip (motion is from ${percent(limits.motion)}).`;
    case 'unmeasurable':
      return `A part of the condition cannot be measured in pixels. ${remedy}`;
  }
}

/** What there is to say of any picture: its main colours and its brightness. */
export function described(picture: PictureFacts): string {
  return `The picture is ${mainColours(picture.shares)}. ${brightness(picture)}, contrast ${percent(picture.contrast)}.`;
}

export function mainColours(shares: PictureFacts['shares']): string {
  return colours
    .toSorted((a, b) => shares[b] - shares[a])
    .slice(0, 4)
    .filter((colour, at) => at === 0 || shares[colour] >= 0.01)
    .map((colour) => `${percent(shares[colour])} ${colour}`)
    .join(', ');
}

function brightness(picture: PictureFacts): string {
  return `Mean brightness is ${percent(picture.brightness)}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
