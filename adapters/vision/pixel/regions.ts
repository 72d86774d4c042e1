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
    const take = (at: number) => {
      if (thick[at] !== kind) return;
      thick[at] = none;
      stack.push(at);
    };
    take(start);
    let size = 0;
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      size += 1;
      const x = at % width;
      if (x > 0) take(at - 1);
      if (x < width - 1) take(at + 1);
      take(at - width);
      take(at + width);
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
  for (let at = 0; at < classes.length; at += 1) {
    const kind = classes[at] ?? none;
    const x = at % width;
    const left = x === 0 ? at : at - 1;
    const right = x === width - 1 ? at : at + 1;
    const above = at < width ? at : at - width;
    const below = at + width < classes.length ? at + width : at;
    if (classes[left] !== kind || classes[right] !== kind) continue;
    if (classes[above] !== kind || classes[below] !== kind) continue;
    kept[at] = kind;
    kept[left] = kind;
    kept[right] = kind;
    kept[above] = kind;
    kept[below] = kind;
  }
  return kept;
}
