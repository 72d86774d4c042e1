import { sceneLimits } from '../../../core/records/moment.ts';
import type { MomentVerdicts } from '../../../core/records/vision.ts';
import { toPlural } from '../condition/nouns.ts';
import { colors } from '../pixel/colors.ts';
import type { PictureFacts } from '../pixel/measure-picture.ts';
import { thresholds as measured } from '../pixel/evaluate.ts';
import { mainBoxColors } from './box-colors.ts';
import { type ObjectMoment, thresholds } from './judge-objects.ts';

type Scene = Pick<MomentVerdicts, 'scene' | 'objects'>;

/** Describes what the network has detected in a frame: "2 persons, 1 red car". */
export function describeDetected({ detections, picture }: ObjectMoment): Scene {
  const seen = detections
    .filter(({ score }) => score >= thresholds.seen)
    .map(({ object, box }) => ({
      object,
      color: object === 'person' ? '' : `${mainBoxColors(picture, box)[0] ?? ''} `.trimStart(),
    }));
  const kinds = Map.groupBy(seen, ({ object, color }) => `${color}${object}`);
  const counted = [...kinds].flatMap(([name, [first, ...others]]) =>
    first && others.length > 0 ? `${1 + others.length} ${first.color}${toPlural(first.object)}` : `1 ${name}`,
  );
  const scene = cut(counted.join(', '));
  return {
    scene: scene || 'No everyday object is seen.',
    ...(kinds.size > 0 && { objects: [...kinds.keys()].slice(0, sceneLimits.objects) }),
  };
}

/** Describes the colors and the brightness of a frame: "Mostly red and white, bright." */
export function describeMeasured({ shares, brightness, contrast }: PictureFacts): Scene {
  const light = brightness < measured.dark ? ', dark' : brightness >= measured.bright ? ', bright' : '';
  if (contrast < measured.blankContrast) return { scene: `Blank, ${mainColor(shares)}${light}.` };
  return { scene: `Mostly ${mainColor(shares)}${light}.` };
}

/** Joins the colors of at least a tenth of a frame, the largest share first. */
function mainColor(shares: PictureFacts['shares']): string {
  return colors
    .toSorted((one, other) => shares[other] - shares[one])
    .filter((color, index) => index === 0 || shares[color] >= 0.1)
    .join(' and ');
}

function cut(scene: string): string {
  if (scene.length <= sceneLimits.characters) return scene;
  return scene.slice(0, scene.lastIndexOf(', ', sceneLimits.characters));
}
