/**
 * Returns the total weight of each 8-connected group of pixels, heaviest first. Does not modify `weights`. The
 * stack holds each pixel at most once, because a pushed pixel is cleared in `open`.
 */
export function componentWeights(weights: Uint8Array, width: number): number[] {
  const open = weights.slice();
  const stack = new Uint16Array(open.length);
  const found: number[] = [];
  for (let start = 0; start < open.length; start += 1) {
    if (open[start] === 0) continue;
    let total = open[start] ?? 0;
    open[start] = 0;
    stack[0] = start;
    let depth = 1;
    while (depth > 0) {
      depth -= 1;
      const at = stack[depth] ?? 0;
      const x = at % width;
      const from = x === 0 ? 0 : -1;
      const to = x === width - 1 ? 0 : 1;
      for (let row = at - width; row <= at + width; row += width) {
        for (let near = row + from; near <= row + to; near += 1) {
          const weight = open[near] ?? 0;
          if (weight === 0) continue;
          total += weight;
          open[near] = 0;
          stack[depth] = near;
          depth += 1;
        }
      }
    }
    found.push(total);
  }
  return found.toSorted((a, b) => b - a);
}
