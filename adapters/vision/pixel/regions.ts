/**
 * Counts the pixels in the largest connected region of each class. Only parts at least three pixels thick count:
 * where two colors meet, subsampled chroma produces a thin line of a third one.
 */
export function largestRegions(classes: Uint8Array, width: number, classCount: number): Uint32Array {
  const thick = opened(classes, width);
  const largest = new Uint32Array(classCount);
  const stack: number[] = [];
  for (let start = 0; start < thick.length; start += 1) {
    const kind = thick[start] ?? none;
    if (kind === none) continue;
    const take = (index: number) => {
      if (thick[index] !== kind) return;
      thick[index] = none;
      stack.push(index);
    };
    take(start);
    let size = 0;
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      size += 1;
      const x = index % width;
      if (x > 0) take(index - 1);
      if (x < width - 1) take(index + 1);
      take(index - width);
      take(index + width);
    }
    largest[kind] = Math.max(largest[kind] ?? 0, size);
  }
  return largest;
}

const none = 255;

/**
 * Keeps a pixel if it, or a direct neighbor, has its own class on all four sides. The frame border counts as such.
 */
function opened(classes: Uint8Array, width: number): Uint8Array {
  const kept = new Uint8Array(classes.length).fill(none);
  for (let index = 0; index < classes.length; index += 1) {
    const kind = classes[index] ?? none;
    const x = index % width;
    const left = x === 0 ? index : index - 1;
    const right = x === width - 1 ? index : index + 1;
    const above = index < width ? index : index - width;
    const below = index + width < classes.length ? index + width : index;
    if (classes[left] !== kind || classes[right] !== kind) continue;
    if (classes[above] !== kind || classes[below] !== kind) continue;
    kept[index] = kind;
    kept[left] = kind;
    kept[right] = kind;
    kept[above] = kind;
    kept[below] = kind;
  }
  return kept;
}
