/** Size of the grayscale copies of pictures. */
export const graySize = { width: 80, height: 45 };

/** Minimum difference of a changed pixel, of 255 levels: above the noise of JPEG and of a camera at night. */
const minDifference = 24;
/** Minimum changed pixels: a person of 1/9 of the height has about five. */
const minPixels = 3;
/** Number of comparisons after which a pixel that mostly changes is ignored: it is part of a clock. */
const minComparisons = 8;

/**
 * Motion of a picture. `moves`: something in it is at another place in both neighbors. `changed`: the newest picture,
 * which differs from the one before and may show only that something left.
 */
export type Motion = 'moves' | 'changed' | 'still';

/** Returns the motion of each picture of a series of different pictures. The first has none. */
export function findMotion(pictures: readonly Uint8Array[]): Motion[] {
  const changes = pictures.slice(1).map((picture, index) => findChanges(pictures[index] ?? picture, picture));
  const restless = findRestless(changes);
  return pictures.map((_, index) => {
    const [before, after] = [changes[index - 1], changes[index]];
    if (before === undefined) return 'still';
    const moved = count(before, (pixel) => !restless[pixel] && after?.[pixel] !== 0);
    if (moved < minPixels) return 'still';
    return after === undefined ? 'changed' : 'moves';
  });
}

/** Returns 1 for each pixel that differs between two pictures, apart from a change of the light of most. */
function findChanges(before: Uint8Array, after: Uint8Array): Uint8Array {
  const differences = Int16Array.from(after, (level, index) => level - (before[index] ?? 0));
  const light = differences.toSorted()[differences.length >> 1] ?? 0;
  return Uint8Array.from(differences, (by) => (Math.abs(by - light) >= minDifference ? 1 : 0));
}

function findRestless(changes: readonly Uint8Array[]): boolean[] {
  if (changes.length < minComparisons) return [];
  return Array.from(
    changes[0] ?? [],
    (_, index) => changes.filter((changed) => changed[index] === 1).length > changes.length / 2,
  );
}

function count(changed: Uint8Array, counts: (index: number) => boolean): number {
  return changed.reduce((sum, value, index) => sum + (value === 1 && counts(index) ? 1 : 0), 0);
}
